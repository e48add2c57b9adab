"""Tables of hits, primers and products: BED and TSV."""
