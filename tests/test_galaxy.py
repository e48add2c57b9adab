"""Galaxy's forms in packaging/galaxy: the command lines that Cheetah makes of them, run on the data
of their tests, and what Galaxy's linter says."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from xml.etree import ElementTree

import pytest
from support.documents import ROOT, furnish, paths

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Cheetah imports cgi

FOLDER = ROOT / "packaging" / "galaxy"
DATA = FOLDER / "test-data"
FORMS = sorted(FOLDER.glob("kmatch*.xml"))
MACROS = ElementTree.parse(FOLDER / "macros.xml").getroot()
TOKENS = {token.get("name"): token.text for token in MACROS.iter("token")}


def with_tokens(text):
    for name, value in TOKENS.items():
        text = text.replace(name, value)
    return text


def expanded(element):
    """An element, in which macros stand in place of what asks for them, in macros too."""
    children = []
    for child in element:
        if child.tag == "expand":
            (macro,) = (
                each for each in MACROS.iter("xml") if each.get("name") == child.get("macro")
            )
            children += expanded(macro)
        else:
            children.append(expanded(child))
    element[:] = children
    return element


TOOLS = {
    path.stem: expanded(ElementTree.fromstring(with_tokens(path.read_text()))) for path in FORMS
}
CASES = [
    pytest.param(tool, test, id=f"{name}-{number}")
    for name, tool in TOOLS.items()
    for number, test in enumerate(tool.findall("tests/test"), 1)
]


class Dataset(str):
    """The path of a file as Galaxy has it, its name in the history, and its datatype."""

    def __new__(cls, folder, name, datatype):
        path = folder / f"dataset_{len(list(folder.iterdir()))}.dat"
        path.symlink_to(DATA / name)
        dataset = super().__new__(cls, path)
        dataset.element_identifier = name
        dataset.ext = datatype
        return dataset


def name_of(param):
    return param.get("name") or param.get("argument").lstrip("-").replace("-", "_")


def value_of(param, test, folder):
    """What a template gets for a param, of which a test may give a value."""
    options = [option.get("value") for option in param.findall("option")]
    kind = param.get("type")
    tested = test.find(f"param[@name='{name_of(param)}']")
    given = None if tested is None else tested.get("value")
    if kind == "data":
        assert given or param.get("optional"), name_of(param)
        names = given.split(",") if given else []
        datasets = [Dataset(folder, name, tested.get("ftype")) for name in names] or [""]
        return datasets if param.get("multiple") else datasets[0]
    if kind == "boolean":
        checked = given or param.get("checked", "false")
        return param.get("truevalue" if checked == "true" else "falsevalue")
    if kind == "select":
        assert given is None or given in options
        return options[0] if given is None else given
    return param.get("value", "") if given is None else given


def values_of(inputs, test, folder):
    """The values of all inputs by name, which are those of a test where it has any."""
    values = {}
    for each in inputs:
        if each.tag == "conditional":
            name = each.get("name")
            nested = test.find(f"conditional[@name='{name}']")
            nested = ElementTree.Element("conditional") if nested is None else nested
            chosen = values_of(each.findall("param"), nested, folder)
            (when,) = (one for one in each.findall("when") if one.get("value") in chosen.values())
            values[name] = chosen | values_of(when, nested, folder)
        else:
            values[name_of(each)] = value_of(each, test, folder)
    return values


def names_in(inputs):
    """The names of all inputs, and of those in conditionals."""
    return {name_of(param) for param in inputs.iter("param")}


def command_line(tool, values):
    """The command line that a form makes of values."""
    module = pytest.importorskip("Cheetah.Template", reason="no Cheetah: pip install ct3")
    lines = str(module.Template(tool.findtext("command"), searchList=[values]))
    return lines.replace("\n", " ")


@pytest.mark.parametrize("tool, test", CASES)
def test_command_lines(tool, test, tmp_path):
    inputs = tool.find("inputs")
    assert {param.get("name") for param in test.iter("param")} <= names_in(inputs)
    values = values_of(inputs, test, tmp_path)
    outputs = {each.get("name"): each for each in tool.findall("outputs/data")}
    values |= {name: str(tmp_path / f"{name}.dat") for name in outputs}
    job = tmp_path / "job"
    job.mkdir()
    command = command_line(tool, values)
    environment = os.environ | paths(furnish(tmp_path)) | {"GALAXY_SLOTS": "1"}
    done = subprocess.run(["bash", "-c", command], cwd=job, env=environment, capture_output=True)
    assert done.returncode == 0, (command, done.stderr.decode())
    written = [name for name, each in outputs.items() if is_written(each, values)]
    collections = [each for each in tool.findall("outputs/collection") if is_written(each, values)]
    assert len(written) + len(collections) == int(test.get("expect_num_outputs"))
    for name in written:
        moved = outputs[name].get("from_work_dir")
        text = (job / moved if moved else tmp_path / f"{name}.dat").read_text()
        check(text, test.find(f"output[@name='{name}']/assert_contents"))
    for each in collections:
        check_elements(job, each, test.find(f"output_collection[@name='{each.get('name')}']"))


def is_written(output, values):
    filters = output.findtext("filter")
    return filters is None or bool(values[filters])


def check_elements(job, collection, asserted):
    """Have the files of a collection be as a test of Galaxy asserts."""
    found = {}
    discovered = collection.find("discover_datasets")
    for path in (job / discovered.get("directory")).iterdir():
        parts = re.match(discovered.get("pattern"), path.name)
        found[parts["designation"]] = (parts["ext"], path.read_text())
    assert len(found) == int(asserted.get("count"))
    for element in asserted.findall("element"):
        datatype, text = found[element.get("name")]
        assert datatype == element.get("ftype")
        check(text, element.find("assert_contents"))


def check(text, asserted):
    """Have a text be as a test of Galaxy asserts."""
    for each in () if asserted is None else asserted:
        if each.tag == "has_n_lines":
            assert text.count("\n") == int(each.get("n"))
        elif each.tag == "has_line":
            assert each.get("line") in text.splitlines()
        else:
            assert each.tag == "has_text" and each.get("text") in text


def test_mismatches_beside_a_pam_are_those_of_multi():
    """`hamming` has no PAM."""
    given = {"genome": "g", "patterns": "p", "strand": "both", "form": "bed", "hits": "h"}
    given |= {"records": "", "skip_records": "", "gaps": ""}
    for pam, command in (("", "hamming"), ("--pam NGG", "multi")):
        search = {"kind": "hamming", "differences": "3", "pam": pam}
        search |= {"max_unknown": "", "variants": [""]}
        line = command_line(TOOLS["kmatch"], given | {"search": search}).split()
        assert line[:2] == ["kmatch", command] and ("--pam" in line) == bool(pam)


LINT = """
import sys
from galaxy.tool_util.lint import LintLevel, lint_tool_source
from galaxy.tool_util.parser import get_tool_source
source = get_tool_source(sys.argv[1])
sys.exit(not lint_tool_source(source, level=LintLevel.WARN, fail_level=LintLevel.WARN))
"""


@pytest.mark.skipif(
    not find_spec("galaxy"), reason="no galaxy-tool-util: pip install galaxy-tool-util[edam]"
)
@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_galaxys_linter_has_nothing_to_say(path):
    command = [sys.executable, "-c", LINT, path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
