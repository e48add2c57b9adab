"""Running cases one after the other, and telling how to see a failure again."""

import argparse
import resource
import secrets
import shlex
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path

from fuzzing import damage, drawing, inputs, properties, searches
from fuzzing.damage import Damaged
from fuzzing.shrinking import shrink

SLOW = 60  # seconds after which the stacks of a case that goes on are shown
STDERR = sys.__stderr__  # a file, whatever a test puts in its place

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
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=DESCRIPTION)
    parser.add_argument("--seconds", type=float, default=60, help="to go on for (%(default)s)")
    parser.add_argument("--cases", type=int, help="to run, in place of --seconds")
    parser.add_argument("--seed", type=int, help="of the cases; by default another every time")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N (%(default)s)")
    parser.add_argument(
        "--only", metavar="WORD", default="", help="kinds, or properties, with this word"
    )
    parser.add_argument("--failures", type=int, help="to end after; by default it goes on")
    parser.add_argument(
        "--properties", action="store_true", help="run those of the tests in place of cases"
    )
    given = parser.parse_args(arguments)
    if given.seed is None:
        given.seed = secrets.randbelow(1 << 32)
    if given.properties:
        return int(properties.run(given.seed, given.seconds, given.only) > 0)
    return run(given)


def run(given):
    """Run cases until the time is over, or so many; returns 1 where any failed."""
    print(f"seed {given.seed}", flush=True)
    began = time.monotonic()
    counts, failures = Counter(), 0
    folder = Path(tempfile.mkdtemp(prefix="kmatch-fuzz-"))
    with suppress(KeyboardInterrupt):  # what was done is told all the same
        for number, kind in enumerate(drawing.schedule(given.device)):
            seconds = time.monotonic() - began
            done = seconds > given.seconds if given.cases is None else number >= given.cases
            if done or failures == given.failures:
                break
            if given.only in kind:
                counts[kind] += 1
                case = drawing.draw(kind, given.seed, number, given.device)
                failures += not passes(case, f"{kind}, case {number} of seed {given.seed}", folder)
    for kind, count in counts.items():
        print(f"{count:7} {kind}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{time.monotonic() - began:7.0f} s, {peak:,} MB of memory at most")
    print(f"{sum(counts.values()):7} cases, {failures} failed")
    if not failures:
        shutil.rmtree(folder)
    return int(failures > 0)


DESCRIPTION = """\
Make up searches and damaged inputs, and hold what kmatch answers against slow and obvious oracles.
"""


def passes(case, title, folder):
    """Whether a case is answered as it should be; if not, it is made small and shown."""
    here = folder / "case"
    here.mkdir(exist_ok=True)
    (folder / "case.py").write_text(f"# {title}\ncase = {case!r}\n")  # for when all this dies
    error = failure(case, here)
    if error is None:
        return True
    small = case
    if failure(case, here) is not None:
        kind = kind_of(error)
        small = shrink(case, lambda smaller: kind_of(failure(smaller, here)) == kind)
        error = failure(small, here) or error
    else:
        title += ", which passes when it is run again"
    kept = Path(tempfile.mkdtemp(prefix="failed-", dir=folder))
    print(f"FAILED: {title}\n{error}", *reproduce(small, kept), sep="\n", flush=True)
    return False


def failure(case, folder):
    """What is wrong with the answer to a case, None where nothing is."""
    watch = threading.Timer(SLOW, show_stacks)
    watch.daemon = True
    watch.start()
    try:
        case.check(folder)
    except searches.Wrong as wrong:
        return str(wrong)
    except Exception:
        return traceback.format_exc()
    finally:
        watch.cancel()
    return None


def show_stacks():
    """Tell what all threads do; faulthandler may crash where they go on meanwhile."""
    for thread, frame in sys._current_frames().items():
        print(f"thread {thread}", *traceback.format_stack(frame), file=STDERR, flush=True)


def kind_of(error):
    """What sort of failure it is: a smaller case that fails in another way is another matter."""
    lines = (error or "").splitlines()
    return (lines[-1 if error.startswith("Traceback") else 0] if lines else "").partition(":")[0]


def reproduce(case, folder):
    """Yield a shell command, whose input files are kept in a folder, and a Python snippet."""
    if isinstance(case, Damaged):
        arguments, stdin = damage.command(case, folder)
    else:
        arguments, stdin = inputs.command(inputs.as_command(case), folder)
        if case.hooks or case.patches or case.beside:
            yield "# on the command line, without what only tests set:"
    line = shlex.join(["python", "-m", "kmatch", *map(str, arguments)])
    if "-" in arguments:
        (folder / "stdin").write_bytes(stdin)
        line += f" < {folder / 'stdin'}"
    yield line
    yield SNIPPET.format(case=case, folder=str(folder))
