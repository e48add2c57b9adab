"""The modules of `Bio.SeqIO` without the package's own module, which loads those of all formats.

`kmatch.sequences.readers.seqio.FastaIO` is Biopython's `Bio/SeqIO/FastaIO.py`, and takes half the
time to import.
"""

import os

import Bio

__path__ = [os.path.join(folder, "SeqIO") for folder in Bio.__path__]
