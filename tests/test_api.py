"""The functions for Python: what they take and refuse, and what they leave alone."""

import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.searches import GENOME, RECORDS, SETTINGS, TEXT, call

import kmatch
from kmatch import api, primers, reads
from kmatch.search.alignments import GenomeTexts
from kmatch.sequences.oligos import load_pairs

FUNCTIONS = (
    *(api.hamming, api.multi, api.edit, api.best, api.pack),
    *(primers.pcr, primers.primer, primers.guides, primers.assay),
    *(reads.demux, reads.filter_reads),
)
NAMED = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
PRIMERS = {"x": (RECORDS[0][1][100:118], "ACGTACGA")}


@NAMED
def test_every_option_is_a_typed_keyword_and_said(function):
    signature = inspect.signature(function)
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    assert signature.return_annotation is not inspect.Signature.empty
    for name, parameter in signature.parameters.items():
        assert parameter.annotation is not inspect.Parameter.empty, name
        optional = parameter.default is not inspect.Parameter.empty
        assert optional == (parameter.kind is inspect.Parameter.KEYWORD_ONLY), name
        assert re.search(rf"^ {{8}}{name}: ", function.__doc__, re.M), name
    assert not set(signature.parameters) & SETTINGS.keys()


def test_the_package_hands_on_what_it_says():
    assert set(kmatch.__all__) >= {"Genome", "Hits", "hamming", "Primers", "__version__"}
    assert set(kmatch.__all__) <= set(dir(kmatch))
    for name in kmatch.__all__:
        assert getattr(kmatch, name) is not None
    assert kmatch.hamming is api.hamming
    assert (Path(kmatch.__file__).parent / "py.typed").is_file()
    with pytest.raises(AttributeError, match="nonsense"):
        kmatch.nonsense  # noqa: B018


def test_primers_of_all_kinds():
    pairs = load_pairs({"a": (["ACGT", "ACGA"], "TTGA"), "b": ("GGGA", "CCCA")})
    assert pairs.primers.names == ["a_F", "a_F_alt1", "a_R", "b_F", "b_R"]
    assert pairs.pair.tolist() == [0, 0, 0, 1, 1] and pairs.role.tolist() == [0, 0, 1, 0, 1]
    assert load_pairs(pairs) is pairs and repr(pairs) == "<PrimerPairs: 'a', 'b'>"


def test_tables_are_pickled(tmp_path):
    hits = call(kmatch.edit, GENOME, ["ACGTAC", "TTGACA"], 1)
    products = call(kmatch.pcr, GENOME, PRIMERS, 3, product=(10, 900), pairs="any")
    again = pickle.loads(pickle.dumps(hits))
    assert list(again) == list(hits) != [] and again.match.tolist() == hits.match.tolist()
    some = hits.distance == 1
    assert again[some].cigar.tolist() == hits[some].cigar.tolist()
    assert list(pickle.loads(pickle.dumps(products))) == list(products) != []
    genes = tmp_path / "genes.bed"
    genes.write_text("".join(f"{name}\t0\t30\tgene\n" for name in GENOME.names))
    options = {"pam": "NG", "length": 4, "annotate": genes}
    guides = call(kmatch.guides, GENOME, GENOME, 1, **options)
    again = pickle.loads(pickle.dumps(guides[::2]))
    assert len(again) and repr(again) == repr(guides[::2])
    for name in ("d0", "d1", "gene"):
        assert again.column(name).tolist() == guides.column(name)[::2].tolist()


def test_products_outside_of_regions_are_not_cut_out(monkeypatch):
    """Neither those of other records, nor those of other places of the same one."""
    read, cut = GenomeTexts.read, []

    def counted(self, genome, record, *rest):
        cut.extend(record.tolist())
        return read(self, genome, record, *rest)

    monkeypatch.setattr(GenomeTexts, "read", counted)
    genome = kmatch.Genome.from_records([("a", "A" * 600), ("b", "A" * 600)])
    options = {"product": (50, 90), "sequence": True}
    primers = {"x": ("A" * 10, "T" * 10)}
    whole = call(kmatch.pcr, genome, primers, 0, **options)
    inside = (whole.record == "b") & (whole.start >= 100) & (whole.end <= 170)
    cut.clear()
    found = call(kmatch.pcr, genome, primers, 0, regions=[("b", 100, 170)], **options)
    assert list(found) == list(whole[inside]) and len(cut) == len(found) > 100
    monkeypatch.setattr("kmatch.apps.pcr.MANY", 100)
    with pytest.warns(UserWarning, match="more than 100 products") as warned:
        call(kmatch.pcr, genome, primers, 0, **options)
    assert len(warned) == 1


def test_integers_of_numpy_and_the_closest_without_their_first_letters():
    expected = list(call(kmatch.hamming, GENOME, ["ACGTA"], 1, exact_3p=2))
    for kind in (np.int8, np.int64, np.uint32):
        found = call(kmatch.hamming, GENOME, ["ACGTA"], kind(1), exact_3p=kind(2))
        assert list(found) == expected and len(expected) > 1
    pattern = "ACGT" * 70
    genome = kmatch.Genome.from_records([("r", "T" * 20 + pattern[1:] + "T" * 20)])
    (hit,) = call(kmatch.best, genome, [pattern], exact_5p=4, strand="+")
    assert (hit.start, hit.distance) == (23, 3)  # without its first four, and A, C and G beyond


def test_progress_goes_over_a_list(tmp_path):
    paths, heard = [tmp_path / f"g{number}.fa" for number in range(5)], []
    for number, path in enumerate(paths):
        path.write_text(f">r\n{TEXT[: 9 * number]}\n>s\nACGTAC\n")
    kmatch.hamming(paths, "ACGTAC", 0, on_progress=lambda *sizes: heard.append(sizes))
    assert heard == [(done, 5) for done in range(6)]


# What is left alone

UNCHANGED = """
import os, signal, sys, threading, warnings
import numpy, numba, Bio.SeqIO

def settings():
    signals = [signal.getsignal(number) for number in signal.valid_signals()]
    hooks = [sys.excepthook, sys.unraisablehook, threading.excepthook, sys.getswitchinterval()]
    hint = "CUDA_LOW_OCCUPANCY_WARNINGS"  # which a module of kernels for GPUs switches off
    config = {k: v for k, v in vars(numba.config).items() if k.isupper() and k != hint}
    environ = {k: v for k, v in os.environ.items() if k != f"NUMBA_{hint}"}
    return environ, config, list(warnings.filters), signals, hooks, numpy.geterr()

before = settings()
import kmatch
text = "ACGTTGCATTAGCCAGTACTGAACCGGTT" * 20
genome = kmatch.Genome.from_records([("r", text)])
options = {"device": "cpu", "threads": 1}
for found in (
    kmatch.hamming(genome, text[:12], 1, **options),
    kmatch.multi(genome, text[:12], 1, pam="N", **options),
    kmatch.edit(genome, text[:12], 1, **options),
    kmatch.best(genome, text[:12], **options),
    kmatch.hamming(genome, text[:12], 1, algorithm="sequential", **options),
):
    assert len(found) and len(found.cigar)
path = sys.argv[1]
found.to_tsv(path + "/hits.tsv")
assert kmatch.pack(genome, path + "/r.kmatch", threads=1) == (1, len(text))
assert len(kmatch.primer(genome, kmatch.Genome(path + "/r.kmatch"), 3, **options)) == 0
from kmatch.published.cpu import feuser2018, nakano2012, wspasm2017
from kmatch.engine.cuda import driver
with warnings.catch_warnings():
    warnings.simplefilter("error")
    driver._try[1, 1]  # a small grid, which Numba warns of
names = ("environ", "config", "filters", "signals", "hooks", "geterr")
for name, was, now in zip(names, before, settings()):
    assert was == now, (name, was, now)
"""


def test_nothing_of_the_process_is_changed(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", raising=False)
    command = (sys.executable, "-c", UNCHANGED, tmp_path)
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_warnings_point_to_the_line_that_called():
    genome = kmatch.Genome.from_records([("a", "ACGTACGTTTGACCA")])
    with pytest.warns(kmatch.KmatchWarning) as heard:
        kmatch.hamming(genome, ["ACGTA", "ACGTT"], 1, limit=1)
        kmatch.multi(genome, ["ACGTNNN"], 1, pam="NGG")
    assert [warning.filename for warning in heard] == [__file__, __file__]
