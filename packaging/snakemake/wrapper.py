# ruff: noqa: F821 – Snakemake defines `snakemake`
__author__ = "The kmatch developers"
__license__ = "MIT"

from shlex import join

from snakemake.shell import shell

# Inputs by name, in the order in which commands take them.
ARGUMENTS = {
    "hamming": ("genome", "patterns"),
    "multi": ("genome", "patterns"),
    "edit": ("genome", "patterns"),
    "best": ("genome", "patterns"),
    "pcr": ("genome", "primers"),
    "primer": ("target", "background"),
    "guides": ("target", "genome"),
    "assay": ("assays", "genomes"),
    "filter": ("reads", "patterns"),
    "demux": ("reads", "barcodes"),
}

command = snakemake.params.command
extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)

words = ["kmatch", command]
for name in ARGUMENTS[command]:
    given = getattr(snakemake.input, name)
    words += [given] if isinstance(given, str) else given
# Other files are those of the options that are named as they are.
table = snakemake.output[0]
options = [(name, path) for name, path in snakemake.input.items() if name not in ARGUMENTS[command]]
options += [(name, path) for name, path in snakemake.output.items() if path != table]
for name, given in options:
    for path in [given] if isinstance(given, str) else given:
        words += [f"--{name.replace('_', '-')}", path]
words += ["--threads", str(snakemake.threads), "--output", table]
line = join(words)

shell("{line} {extra} {log}")
