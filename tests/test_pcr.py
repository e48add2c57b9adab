"""Products of pairs of primers, held against every two sites of an oracle."""

from unittest import mock

from support.devices import joined
from support.searches import product_rows as rows
from support.searches import products

from kmatch.search import pcr as joins
from kmatch.sequences.primer_pairs import role_of


def test_dense_repeats_come_in_parts():
    """Quadratically many products leave in parts, in order."""
    unit = "ACGTAC" + "GTACGT"
    records = [("r", unit * 30)]
    primers = {"a": (["ACGT"], ["GTAC"]), "b": (["TACG"], ["CGTA"])}
    options = {"product": (8, 200), "pairs": "any"}
    with mock.patch.object(joins, "PRODUCTS", 100):
        made = products(records, primers, 0, device="cpu", chunk_length=50, **options)
    assert len(made.batches) > 20
    assert rows(made) == joined(records, primers, 0, **options)


def test_names_tell_pairs():
    for name, role in {
        **{"x_F": ("x", 0), "x_r": ("x", 1), "x_F_R": ("x_F", 1)},
        **{"nCoV_76_LEFT_alt1": ("nCoV_76", 0), "nCoV_76_RIGHT_alt": ("nCoV_76", 1)},
        **{"s_400_12_RIGHT_1": ("s_400_12", 1), "x_F_alt2": ("x", 0)},
        **dict.fromkeys(("x_F_2", "_F", "LEFT", "x_FORWARD")),
    }.items():
        assert role_of(name) == role
