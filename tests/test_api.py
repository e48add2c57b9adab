"""The functions for Python: what they take and refuse, and what they leave alone."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import hooks
from support.api import GENOME, RECORDS, TEXT, call
from support.commands import fasta, here

import kmatch
from kmatch import api

FUNCTIONS = (api.hamming, api.multi, api.edit, api.best, api.pcr, api.primer, api.pack)


NO_FILE = "No such file or directory"


class TestSignatures:
    @pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
    def test_every_option_is_a_typed_keyword_and_said(self, function):
        signature = inspect.signature(function)
        kinds = {parameter.kind for parameter in signature.parameters.values()}
        assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
        assert signature.return_annotation is not inspect.Signature.empty
        for name, parameter in signature.parameters.items():
            assert parameter.annotation is not inspect.Parameter.empty, name
            optional = parameter.default is not inspect.Parameter.empty
            assert optional == (parameter.kind is inspect.Parameter.KEYWORD_ONLY), name
            assert re.search(rf"\b{name}\b", function.__doc__ + api.hamming.__doc__), name
        assert not set(signature.parameters) & hooks.SETTINGS.keys()

    def test_an_unknown_option_is_a_type_error(self):
        for function in FUNCTIONS[:3]:
            with pytest.raises(TypeError, match="chunk_length"):
                function(GENOME, ["ACGT"], 1, chunk_length=7)

    def test_the_package_hands_on_what_it_says(self):
        assert set(kmatch.__all__) <= set(dir(kmatch))
        for name in kmatch.__all__:
            assert getattr(kmatch, name) is not None
        assert kmatch.hamming is api.hamming
        assert (Path(kmatch.__file__).parent / "py.typed").is_file()


NUMBERS = {
    "a share": 1.5,
    "a word": "1",
    "a truth": True,
    "nothing": None,
    "negative": -1,
    "huge": 2**31,
    "a list": [1],
}
BAD = {
    "strand": (api.hamming, {"strand": "x"}, "unknown strand 'x'; use both, \\+ or -"),
    "no strand": (api.edit, {"strand": None}, "unknown strand None"),
    "report": (api.edit, {"report": "most"}, "unknown report 'most'; use minima, ends or loci"),
    "no threads": (api.hamming, {"threads": 0}, "0 threads cannot search; give 1 or more"),
    "threads": (api.edit, {"threads": 1.5}, "threads is 1.5; give a whole number"),
    "algorithm": (api.hamming, {"algorithm": "magic"}, "magic"),
    "5p end": (api.hamming, {"exact_5p": 5}, "'ACGT' has 4 letters: exact_5p 5 asks for more"),
    "3p end": (api.multi, {"exact_3p": 5}, "'ACGT' has 4 letters: exact_3p 5 asks for more"),
    "half an end": (api.hamming, {"exact_3p": 0.5}, "exact_3p is 0.5; give a whole number"),
    "PAM": (api.multi, {"pam": 3}, "the PAM is 3; give its letters"),
    "PAM letter": (api.multi, {"pam": "NXG"}, "PAM 'NXG': 'X' at position 2"),
    "empty PAM": (api.multi, {"pam": ""}, "the PAM is empty"),
    "side": (api.multi, {"pam_side": "left"}, "unknown side of the PAM 'left'; use 3p or 5p"),
}
BAD_PRIMERS = {
    "no k": (0, {}, "k is 0; it must be 1 or more"),
    "half a k": (1.5, {}, "k is 1.5; give a whole number"),
    "short": (3, {"max_length": 2}, "the maximum length 2 is less than k = 3"),
    "no length": (3, {"min_length": 0}, "the minimum length is 0; it must be 1 or more"),
    "lengths": (2, {"min_length": 9, "max_length": 5}, "9 is more than the maximum 5"),
    "per cent": (2, {"gc": (40, 60)}, "GC content is a share: give 0 to 1, not 40"),
    "below 0": (2, {"gc": (-0.5, 0.5)}, "GC content is a share"),
    "one tm": (2, {"tm": 60}, "melting temperature is 60; give two numbers"),
    "tm": (2, {"tm": (70, 60)}, "the least, 70, is more than the most, 60"),
    "no number": (2, {"tm": (float("nan"), 60)}, "melting temperature is .*nan"),
    "strand": (2, {"background_strand": "-"}, "unknown background strand '-'; use both or \\+"),
}


class TestArguments:
    @pytest.mark.parametrize("name", NUMBERS)
    @pytest.mark.parametrize("function", FUNCTIONS[:3], ids=lambda function: function.__name__)
    def test_k_is_a_whole_number(self, function, name):
        with pytest.raises(kmatch.InputError, match=r"^k is "):
            call(function, GENOME, ["ACGT"], NUMBERS[name])

    def test_numpy_counts_too(self):
        expected = list(call(kmatch.hamming, GENOME, ["ACGTA"], 1, exact_3p=2))
        for kind in (np.int8, np.int64, np.uint32):
            found = call(kmatch.hamming, GENOME, ["ACGTA"], kind(1), exact_3p=kind(2))
            assert list(found) == expected and len(expected) > 1

    @pytest.mark.parametrize("name", BAD)
    def test_what_is_wrong_is_said(self, name):
        function, options, message = BAD[name]
        with pytest.raises(kmatch.InputError, match=message):
            call(function, GENOME, ["ACGT"], 1, **options)

    @pytest.mark.parametrize("name", BAD_PRIMERS)
    def test_numbers_of_primers(self, name):
        k, options, message = BAD_PRIMERS[name]
        with pytest.raises(kmatch.InputError, match=message):
            call(kmatch.primer, GENOME, GENOME, k, **options)

    @pytest.mark.parametrize("device", ["gpu", "cuda:x", None, 3])
    def test_devices(self, device):
        with pytest.raises(kmatch.DeviceError, match="unknown device"):
            kmatch.hamming(GENOME, ["ACGT"], 1, device=device)

    def test_a_panel_that_ends_in_its_pam(self):
        with pytest.raises(kmatch.InputError, match="all 2 patterns end with the PAM NGG"):
            call(kmatch.multi, GENOME, ["ACGTTAGG", "ACGTTTGG"], 1, pam="NGG")
        with pytest.raises(kmatch.InputError, match="all 2 patterns begin with the PAM TTTV"):
            call(kmatch.multi, GENOME, ["TTTACGTT", "TTTCACGT"], 1, pam="TTTV", pam_side="5p")
        with pytest.warns(UserWarning, match="'ACGTTAGG' ends with the PAM NGG"):
            call(kmatch.multi, GENOME, ["ACGTTAGG"], 1, pam="NGG")

    def test_the_command_line_says_the_same(self, tmp_path):
        path = tmp_path / "genome.fa"
        path.write_bytes(fasta(RECORDS))
        for given_options, line in (
            ({"exact_3p": 9}, ("--exact-3p", 9)),
            ({"pam": "NXG"}, ("--pam", "NXG")),
        ):
            with pytest.raises(kmatch.InputError) as error:
                call(kmatch.multi, path, ["ACGT"], 1, **given_options)
            said = here("multi", path, "-p", "ACGT", "-k", 1, *line).err.decode()
            same = str(error.value).replace("exact_3p", "--exact-3p")
            assert said == f"kmatch: error: {same}\n"

    def test_packing_threads(self, tmp_path):
        with pytest.raises(kmatch.InputError, match="0 threads"):
            kmatch.pack(GENOME, tmp_path / "genome.kmatch", threads=0)
        assert not list(tmp_path.iterdir())


class TestPatterns:
    SOUGHT = TEXT[100:112]

    def found(self, patterns):
        return [hit[1:] for hit in call(kmatch.hamming, GENOME, patterns, 0, strand="+")]

    def test_a_sequence_is_a_pattern(self):
        expected = [(100, 112, self.SOUGHT, 0, "+")]
        assert self.found(self.SOUGHT) == self.found([self.SOUGHT]) == expected
        assert self.found((self.SOUGHT,)) == self.found(np.array([self.SOUGHT])) == expected
        assert self.found(iter([self.SOUGHT])) == expected
        assert self.found({"it": self.SOUGHT}) == [(100, 112, "it", 0, "+")]
        assert self.found({"it": self.SOUGHT}.items().mapping) == [(100, 112, "it", 0, "+")]

    def test_a_file_of_that_name_is_read(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path(self.SOUGHT).write_text(f"inside\t{TEXT[200:212]}\n")
        expected = [(200, 212, "inside", 0, "+")]
        assert self.found(self.SOUGHT) == self.found(Path(self.SOUGHT)) == expected

    def test_a_missing_file(self, tmp_path):
        missing = str(tmp_path / "guides.txt")
        with pytest.raises(kmatch.InputError) as error:
            self.found(missing)
        assert str(error.value).startswith(f"{missing}: cannot be read: No such file")
        assert str(error.value).endswith("; a sequence would have IUPAC letters only")
        with pytest.raises(kmatch.InputError, match="ACGT: cannot be read: No such file"):
            self.found(Path("ACGT"))
        said = here("hamming", "-", missing, "-k", 0, stdin=b">r\nACGT\n")
        assert said.err.decode() == f"kmatch: error: {missing}: cannot be read: {NO_FILE}\n"

    @pytest.mark.parametrize("patterns", [[], {}, (), ""])
    def test_none(self, patterns):
        with pytest.raises(kmatch.InputError, match=r"no patterns|is empty"):
            self.found(patterns)

    @pytest.mark.parametrize("patterns", [[b"ACGT"], ["ACGT", 3], {3: "ACGT"}, {"a": None}, [None]])
    def test_what_is_no_str(self, patterns):
        with pytest.raises(kmatch.InputError, match="sequences and names are str"):
            self.found(patterns)

    @pytest.mark.parametrize("patterns", [5, None])
    def test_what_is_no_list(self, patterns):
        with pytest.raises(kmatch.InputError, match="give a sequence, a list, a dict or a path"):
            self.found(patterns)


LIGHT = "import sys, kmatch; kmatch.__version__; kmatch.InputError; dir(kmatch)"
SETTINGS = """
import os, signal, sys, threading, warnings
import numpy, numba, Bio.SeqIO

def settings():
    signals = [signal.getsignal(number) for number in signal.valid_signals()]
    hooks = [sys.excepthook, sys.unraisablehook, threading.excepthook, sys.getswitchinterval()]
    config = {k: v for k, v in vars(numba.config).items() if k.isupper()}
    return dict(os.environ), config, list(warnings.filters), signals, hooks, numpy.geterr()

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


HELP = """
import sys
from kmatch.cli.main import run

assert run(["--help"]) == run(["multi", "--help"]) == 0
print(sorted({"numpy", "numba", "Bio"} & set(sys.modules)))
"""
COMMAND = """
import os
from kmatch.cli.main import main

try:
    main(["--version"])
finally:
    print(os.environ["OMP_WAIT_POLICY"])
"""


class TestTheProcess:
    def run(self, *arguments):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("OMP_")}
        return subprocess.run(
            [sys.executable, "-c", *arguments],
            capture_output=True,
            text=True,
            env=environment,
            cwd=Path(kmatch.__file__).parents[1],
        )

    def test_importing_is_light(self):
        heavy = "; print(sorted({'numpy', 'numba', 'click', 'Bio'} & set(sys.modules)))"
        result = self.run(LIGHT + heavy)
        assert (result.stdout, result.stderr) == ("[]\n", "")

    def test_help_is_light(self):
        result = self.run(HELP)
        assert (result.stdout.splitlines()[-1], result.stderr) == ("[]", "")

    def test_nothing_of_the_process_is_changed(self, tmp_path):
        result = self.run(SETTINGS, str(tmp_path))
        assert (result.returncode, result.stderr) == (0, "")

    def test_the_command_has_openmp_wait(self):
        result = self.run(COMMAND)
        assert result.stdout.splitlines()[-1] == "PASSIVE"
