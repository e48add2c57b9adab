"""Melting temperatures of single duplexes."""

import numpy as np

from kmatch.engine.types import codes_of
from kmatch.results.melting import SALTS, melting_temperatures
from kmatch.sequences.alphabet import encode_text


def duplex_temperature(oligo, site, salts=SALTS):
    letters = (np.frombuffer(each.encode(), np.uint8) for each in (oligo, site))
    codes = [codes_of(encode_text(each)) for each in letters]
    return melting_temperatures(*codes, np.array([0]), np.array([len(oligo)]), salts)[0]
