"""Liu et al. 2012: k mismatches, the sequential algorithm."""

from kmatch.arrays import Bytes, Ints
from kmatch.published.cpu.pmasm2017 import naive


def sequential(text: Bytes, pattern: Bytes, k: int, table: Ints) -> None:
    """The simple CPU algorithm of section V: ham(P, T_i) by Definition 2, one by one."""
    naive(text, pattern[None], k, table[None])
