"""Columns by name, CSV, reports and what other libraries read, against the alignments."""

import csv
import io
import json
import pickle
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.commands import fasta, here, random_letters

import kmatch
from kmatch.cli.command import COMMANDS
from kmatch.errors import InputError
from kmatch.results import multiqc
from kmatch.results.columns import Column
from kmatch.results.formats import FORMATS, Writer

LETTERS = random_letters(3_000, 9)
PATTERNS = {"first": "ACGTRCA", "a,b": "TTGACCA"}


@pytest.fixture
def genome(tmp_path):
    path = tmp_path / "genome.fa"
    first = LETTERS[:1_500] + "N" + LETTERS[1_500:]
    path.write_bytes(fasta([("chr1", first), ("chr2", LETTERS[:70])]))
    return path


def expected(hit, cigar, match, query, leads) -> dict[str, object]:
    """The columns of a hit, from its alignment letter by letter."""
    ops = "".join(int(n) * op for n, op in re.findall(r"(\d+)([=XID])", cigar))
    beside = len(ops.replace("D", "")) - len(query)
    position, places = (-beside if leads else 0), []
    for op in ops:
        position += op != "D"
        if op != "=":
            places.append(position)
    cut = ""
    if beside and not leads:
        cut = str(hit.end - beside - 3 if hit.strand == "+" else hit.start + beside + 3)
    return {
        "query": query,
        "mismatches": ops.count("X"),
        "insertions": ops.count("I"),
        "deletions": ops.count("D"),
        "positions": ",".join(map(str, places)),
        "differences_3p": sum(place > len(query) - 5 for place in places),
        "unknown": match.count("N"),
        "cut": cut,
    }


@pytest.mark.parametrize("options", ["", "--pam NG", "--pam TN,G --pam-side 5p"])
def test_columns_of_differences(genome, options):
    patterns = [part for word in PATTERNS.values() for part in ("-p", word)]
    given = ("sequence", "start", "end", "strand", "pattern", "cigar", "match")
    names = ",".join((*given, *expected(None, "", "", "", True)))
    search = ("edit", genome, *patterns, "-k", 2, *options.split())
    done = here(*search, "--format", "csv", "--columns", names)
    rows = list(csv.DictReader(io.StringIO(done.out.decode())))
    assert len(rows) > 50
    for row in rows:
        hit = SimpleNamespace(start=int(row["start"]), end=int(row["end"]), strand=row["strand"])
        want = expected(hit, row["cigar"], row["match"], row["pattern"], "5p" in options)
        assert {name: row[name] for name in want} == {n: str(each) for n, each in want.items()}


def test_a_column_is_declared_once(genome):
    """As CONTRIBUTING says: a Column of the class is an attribute, and one that formats know."""

    class More(kmatch.Hits):
        twice = Column(np.int64, lambda batch, hits: 2 * batch.distance)

    found = kmatch.hamming(genome, PATTERNS, k=1, device="cpu")
    hits, table = More(found.batches, found.patterns), io.StringIO()
    assert hits.twice.tolist() == hits.column("twice").tolist() == (2 * found.distance).tolist()
    assert hits[::3].twice.tolist() == hits.twice[::3].tolist() and "twice" in dir(hits)
    hits.tsv = ("start", "twice")
    hits.to_csv(table)
    rows = list(csv.DictReader(io.StringIO(table.getvalue())))
    assert [int(row["twice"]) for row in rows] == hits.twice.tolist()


def test_a_format_is_a_writer(genome, monkeypatch):
    class Starts(Writer):
        def fields(self, batch, carried):
            return [("at ", self.table.cells("start", batch))]

    monkeypatch.setitem(FORMATS, "starts", Starts)
    hits = kmatch.hamming(genome, PATTERNS, k=1, device="cpu")
    table = io.BytesIO()
    FORMATS["starts"](table, hits).write_all(hits.batches)
    assert table.getvalue().decode().splitlines() == [f"at {start}" for start in hits.start]


def test_report(genome, tmp_path):
    path = tmp_path / "report.json"
    here("hamming", genome, "-p", "ACGTACA", "-p", "TTTTTTTTT", "-k", 1, "--json", path)
    report = json.loads(path.read_text())
    schema = json.loads(Path("docs/report.schema.json").read_text())
    assert report.keys() <= schema["properties"].keys()
    assert set(schema["required"]) <= report.keys()
    kinds = {"integer": int, "number": (int, float), "string": str, "array": list, "object": dict}
    for name, value in report.items():
        assert isinstance(value, kinds[schema["properties"][name]["type"]])
    hits = kmatch.hamming(genome, ["ACGTACA", "TTTTTTTTT"], k=1, device="cpu")
    assert report["hits"] == len(hits)
    counts = np.bincount(hits.distance[hits.pattern_number == 0], minlength=2).tolist()
    first = {"pattern": "ACGTACA", "hits": sum(counts), "hits_by_distance": counts}
    assert report["patterns"][0] == first
    assert report["letters"] == 3_071
    here("guides", genome, genome, "-k", 1, "--json", path)
    report, found = json.loads(path.read_text()), kmatch.guides(genome, genome, 1, device="cpu")
    sites = dict(zip(found.guide, zip(found.d0, found.d1, strict=True), strict=True))
    counts = {row["pattern"]: tuple(row["hits_by_distance"]) for row in report["patterns"]}
    assert counts == sites and report["hits"] == sum(map(sum, counts.values()))


def test_bars_for_multiqc():
    """A row is named by the report's file; every search has a section."""
    names = ("a_mqc.json", "out/b.kmatch.json", "c.json", "d.txt", "-")
    assert [multiqc.sample_of(name) for name in names] == ["a", "b", "c", "d.txt", "-"]
    assert COMMANDS["Searches"].keys() <= multiqc.SECTIONS.keys()
    assay = {"hits": 9, "assays": [{"amplified": 2, "unknown": 1}, {"amplified": 3}]}
    made = [
        multiqc.bars_of(multiqc.HITS, [3, 0, 1], {"hits": 4}),
        multiqc.bars_of(multiqc.SECTIONS["assay"], None, assay),
        multiqc.bars_of(multiqc.SECTIONS["demux"], None, {"hits": 1, "reads": {"assigned": 1}}),
        multiqc.bars_of(multiqc.SECTIONS["primer"], None, {"hits": 7}),
    ]
    assert made == [
        {"d0": 3, "d1": 0, "d2": 1},
        {"yes": 5, "unknown": 1, "no": 3},
        {"assigned": 1},
        {"Primers": 7},
    ]


def test_hits_are_joined(genome):
    one, other = (
        kmatch.hamming(genome, [word], k=1, device="cpu") for word in ("ACGTACA", "TTGACCA")
    )
    both = one + other
    assert [*both] == [*one, *other]
    assert both.cigar.tolist() == [*one.cigar, *other.cigar]
    assert [*(one + one)] == [*one, *one]
    first, same, second = (kmatch.Genome.from_records([("r", f"ACGT{end}")]) for end in "CCT")
    held, again, others = (kmatch.hamming(each, "ACGT", 1) for each in (first, same, second))
    assert len(held + pickle.loads(pickle.dumps(again))) == 2 * len(held)
    with pytest.raises(InputError, match="different genomes"):
        held + others
    scored = kmatch.multi(genome, ["ACGTACA"], k=1, pam="NGG", score="cfd", device="cpu")
    plain = kmatch.multi(genome, ["ACGTACA"], k=1, pam="NGG", device="cpu")
    assert len((scored + scored).cfd) == 2 * len(scored)
    for both in (plain + scored, scored + plain):
        assert [*both] == [*plain, *scored] and [*both[::2]] == [*both][::2]
        assert len(both.patterns) == 1 and both.tsv == plain.tsv
    tenth, half = (kmatch.multi(genome, ["ACGTACA"], k=k, device="cpu") for k in ("15%", "30%"))
    assert (tenth + half).k.tolist() == [*tenth.k, *half.k]


def test_other_libraries_get_the_columns(genome, monkeypatch):
    hits = kmatch.hamming(genome, ["ACGTACA"], k=1, device="cpu")
    given = []
    monkeypatch.setitem(sys.modules, "polars", SimpleNamespace(DataFrame=given.append))
    hits.to_polars()
    assert given[0]["record"] == hits.record.tolist()
    assert given[0]["start"].tolist() == hits.start.tolist()
    assert {"cigar", "match"} <= given[0].keys()


@pytest.mark.parametrize("package", ["nanoarrow", "pyarrow"])
def test_a_stream_of_arrow(genome, monkeypatch, package):
    reader = pytest.importorskip("nanoarrow")
    pytest.importorskip(package)
    monkeypatch.setattr("kmatch.results.columns.find_spec", lambda name: name == package)
    hits = kmatch.edit(genome, PATTERNS, k=1, pam="N", device="cpu")
    for some in (hits, hits[:0]):
        rows = reader.ArrayStream(some).read_all().to_pylist()
        columns = [getattr(some, name).tolist() for name in (*kmatch.Hit._fields, "cigar", "match")]
        assert [(*row.values(),) for row in rows] == list(zip(*columns, strict=True))
    guide = kmatch.Genome.from_records([("é", "ACGTTGCATTAGCCAGTACTGAACCGGTTAGG" * 2)])
    guides = kmatch.guides(guide, guide, 1, pam="TTV", pam_side="5p", device="cpu")
    rows = reader.ArrayStream(guides).read_all().to_pylist()
    assert [row["d0"] for row in rows] == guides.d0.tolist() and rows[0]["record"] == "é"
    assert len(rows) and all(np.isnan(row["specificity"]) for row in rows)
