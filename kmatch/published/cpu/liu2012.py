"""Liu et al. 2012: k mismatches, the sequential algorithm."""

from kmatch.arrays import Bytes, Ints
from kmatch.published.cpu import HostText
from kmatch.published.cpu.pmasm2017 import naive


def sequential(text: HostText, pattern: Bytes, k: int) -> Ints:
    """The simple CPU algorithm of section V: ham(P, T_i) by Definition 2, one by one."""
    return naive(text, pattern[None], k)[0]
