"""Searches as generators, with their options by name, those that only tests set among them."""

from functools import partial

from kmatch.search.best import best_batches as _best
from kmatch.search.edit import edit_batches as _edit
from kmatch.search.hamming import hamming_batches as _hamming
from kmatch.search.multi import multi_batches as _multi
from kmatch.search.pcr import pcr_batches as _pcr
from kmatch.search.primer import primer_batches as _primer
from kmatch.search.running import by_name

hamming_batches = partial(by_name, _hamming)
multi_batches = partial(by_name, _multi)
edit_batches = partial(by_name, _edit)
best_batches = partial(by_name, _best, on_warning=lambda message: None)
primer_batches = partial(by_name, _primer)
pcr_batches = partial(by_name, _pcr)
