"""The modules of `Bio.SeqIO` without the package's own `__init__`, which loads all formats.

`kmatch.sequences.readers.seqio.FastaIO` is Biopython's `Bio/SeqIO/FastaIO.py`, imported in half the
time.
"""

import os

import Bio

__path__ = [os.path.join(folder, "SeqIO") for folder in Bio.__path__]
