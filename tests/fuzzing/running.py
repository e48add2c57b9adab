"""Running kinds of cases in turn, and telling how to see a failure again."""

import argparse
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

from fuzzing import strategies

TESTS = Path(__file__).parents[1]
EXAMPLES = 5  # of a kind at a time
SLOW = 240  # seconds that a case may take, compiling included
SNIPPET = """\
PYTHONPATH=.:tests python - <<'END'
from pathlib import Path
from fuzzing.damage import Damaged
from fuzzing.searches import Search
case = {case!r}
case.check(Path({folder!r}))
END"""


def main(arguments=None):
    """Run cases as the arguments say; returns 1 where any failed."""
    about = "Draw searches and damaged inputs, and hold what kmatch answers against slow oracles."
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=about)
    parser.add_argument("--seconds", type=float, default=60, help="to go on for (%(default)s)")
    parser.add_argument("--rounds", type=int, help="of all kinds, in place of --seconds")
    parser.add_argument("--seed", type=int, help="of the cases; by default another every time")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N (%(default)s)")
    parser.add_argument(
        "--only", metavar="WORD", default="", help="kinds, or tests, with this word"
    )
    parser.add_argument("--failures", type=int, help="to end after; by default it goes on")
    parser.add_argument(
        "--properties", action="store_true", help="run the tests' own, with new cases"
    )
    asked = parser.parse_args(arguments)
    if asked.seed is None:
        asked.seed = secrets.randbelow(1 << 32)
    return properties(asked) if asked.properties else run(asked)


def properties(asked):
    """Run the tests' properties on fresh examples, at least once and until the time is over.

    Each round has examples of its own; Hypothesis keeps those that failed and begins with them the
    next time.
    """
    until, failed = time.monotonic() + asked.seconds, 0
    while True:
        print(f"properties with seed {asked.seed}", flush=True)
        command = (sys.executable, "-m", "pytest", "-m", "hypothesis", "-k", asked.only)
        command += ("--hypothesis-profile", "fresh", "--hypothesis-seed", str(asked.seed), TESTS)
        failed |= subprocess.run(command, cwd=TESTS.parent).returncode != 0
        if time.monotonic() > until:
            return int(failed)
        asked.seed += 1


def run(asked):
    """Run cases until the time is over, or so many rounds; returns 1 where any failed."""
    print(f"seed {asked.seed}", flush=True)
    began = time.monotonic()
    kinds = {name: x for name, x in strategies.kinds(asked.device).items() if asked.only in name}
    folder = Path(tempfile.mkdtemp(prefix="kmatch-fuzz-"))
    counts, failures, number = Counter(), 0, asked.seed

    def over():
        rounds = number - asked.seed
        late = time.monotonic() - began > asked.seconds
        return failures == asked.failures or (
            late if asked.rounds is None else rounds >= asked.rounds
        )

    with suppress(KeyboardInterrupt):  # what was done is told all the same
        while not over():
            for name, cases in kinds.items():
                if asked.rounds is None and over():
                    break
                failures += not passes(name, cases, number, folder, counts)
                if failures == asked.failures:
                    break
            number += 1
    for name, count in counts.items():
        print(f"{count:7} {name}")
    print(f"{counts.total():7} cases in {time.monotonic() - began:.0f} s, {failures} failed")
    if not failures:
        shutil.rmtree(folder)
    return int(failures > 0)


def passes(name, cases, number, folder, counts):
    """Whether a few cases of a kind are answered as they should be; if not, the smallest is shown.

    number: of which they are drawn.
    """
    last = []

    def too_slow(*_):
        raise TimeoutError(f"a case takes more than {SLOW} s")

    signal.signal(signal.SIGALRM, too_slow)

    @seed(number)
    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, derandomize=False, print_blob=False,
        suppress_health_check=[*HealthCheck], report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink), verbosity=Verbosity.quiet,
    )  # fmt: skip
    @given(cases)
    def check(case):
        (folder / "case.py").write_text(f"# {name}\ncase = {case!r}\n")  # for when all this dies
        counts[name] += not last
        signal.alarm(SLOW)
        try:
            case.check(folder)
        except Exception:
            last[:] = [case, traceback.format_exc()]
            raise
        finally:
            signal.alarm(0)

    try:
        check()
    except Exception:
        if not last:
            raise
        kept = Path(tempfile.mkdtemp(prefix="failed-", dir=folder))
        print(
            f"FAILED: {name}, seed {number}\n{last[1]}", *shown(last[0], kept), sep="\n", flush=True
        )
        return False
    return True


def shown(case, folder):
    """Yield a shell command, whose input files are kept in a folder, and a Python snippet."""
    arguments, stdin = case.command(folder)
    line = shlex.join(["python", "-m", "kmatch", *map(str, arguments)])
    if "-" in arguments:
        (folder / "stdin").write_bytes(stdin)
        line += f" < {folder / 'stdin'}"
    if getattr(case, "patches", None):
        yield f"# on the command line, without what only tests set: {case.patches}"
    yield line
    yield SNIPPET.format(case=case, folder=str(folder))
