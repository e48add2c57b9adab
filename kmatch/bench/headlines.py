"""What the papers say of their algorithms, to stand beside what is measured here."""

CARDS = {
    "Liu et al. 2012": "GTX 260",
    "Ho et al. 2017a": "GTX 660",
    "Ho et al. 2017b": "GTX 660",
    "Feuser & Moreano 2018": "Quadro M4000",
}

# By paper and algorithm, on that card.
HEADLINES = {
    ("Liu et al. 2012", "thread"): "about 10 × sequential",
    ("Liu et al. 2012", "block-thread"): "about 10 × sequential",
    ("Liu et al. 2012", "opt-block-thread"): "40–80 × sequential",
    ("Ho et al. 2017a", "pmasm-shared"): "up to 385 × naive on a CPU",
    ("Ho et al. 2017a", "pmasm-thread"): "up to 4.9 GB/s",
    ("Ho et al. 2017a", "pmasm-block-thread"): "up to 0.24 GB/s",
    ("Ho et al. 2017b", "row"): "60 × sequential",
    ("Ho et al. 2017b", "row-shuffle"): "71 × sequential",
    ("Ho et al. 2017b", "row-shuffle-shared"): "62–123 × sequential",
    ("Feuser & Moreano 2018", "alternative-fine"): "72.8 × sequential",
}


def headline(paper, algorithm):
    """The paper's own figure for an algorithm and the card it had, or an empty string."""
    said = HEADLINES.get((paper, algorithm))
    return f"{said}, {CARDS[paper]}" if said else ""
