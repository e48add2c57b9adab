# ruff: noqa: F821 – Snakemake defines `snakemake`
__author__ = "The kmatch developers"
__license__ = "MIT"

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)

shell(
    "kmatch {snakemake.params.command} {snakemake.input.genome} {snakemake.input.patterns}"
    " {extra} --threads {snakemake.threads} --output {snakemake.output[0]} {log}"
)
