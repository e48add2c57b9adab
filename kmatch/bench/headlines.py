"""The papers' own figures for their algorithms, shown beside what is measured here."""

_MACHINES = {
    ("Ho et al. 2017a", "cpu"): "Xeon E31270",
    ("Ho et al. 2017b", "cpu"): "Xeon E31270",
    ("Feuser & Moreano 2018", "cpu"): "quad-core Xeon",
    ("Liu et al. 2012", "cuda"): "GTX 260",
    ("Ho et al. 2017a", "cuda"): "GTX 660",
    ("Ho et al. 2017b", "cuda"): "GTX 660",
    ("Feuser & Moreano 2018", "cuda"): "Quadro M4000",
}

_HEADLINES = {
    ("Liu et al. 2012", "thread", "cuda"): "about 10 × sequential",
    ("Liu et al. 2012", "block-thread", "cuda"): "about 10 × sequential",
    ("Liu et al. 2012", "opt-block-thread", "cuda"): "40–80 × sequential",
    ("Ho et al. 2017a", "naive", "cpu"): "0.01 GB/s",
    ("Ho et al. 2017a", "naive", "cuda"): "up to 2.67 GB/s",
    ("Ho et al. 2017a", "shift-add", "cpu"): "0.05 GB/s",
    ("Ho et al. 2017a", "shift-add", "cuda"): "up to 3.25 GB/s",
    ("Ho et al. 2017a", "pmasm", "cpu"): "0.06 GB/s",
    ("Ho et al. 2017a", "pmasm-thread", "cuda"): "up to 4.86 GB/s",
    ("Ho et al. 2017a", "pmasm-block-thread", "cuda"): "up to 0.24 GB/s",
    ("Ho et al. 2017a", "pmasm-shared", "cuda"): "up to 6.17 GB/s, 385 × naive CPU",
    ("Ho et al. 2017b", "sequential", "cpu"): "0.026 GB/s",
    ("Ho et al. 2017b", "row", "cuda"): "1.6 GB/s, 60 × sequential",
    ("Ho et al. 2017b", "row-shuffle", "cuda"): "1.8 GB/s, 71 × sequential",
    ("Ho et al. 2017b", "row-shuffle-shared", "cuda"): "2.0 GB/s, 62–123 × sequential",
    ("Feuser & Moreano 2018", "conventional", "cpu"): "4.0 × its sequential form",
    ("Feuser & Moreano 2018", "alternative", "cpu"): "5.6 × its sequential form",
    ("Feuser & Moreano 2018", "alternative-fine", "cuda"): "70–73 × sequential",
}


def headline(paper: str, algorithm: str, device: str) -> str:
    """A paper's figure for an algorithm, GB of text, and its machine; empty where it has none."""
    said = _HEADLINES.get((paper, algorithm, device))
    machine = _MACHINES.get((paper, device))
    return f"{said} ({machine})" if said else ""
