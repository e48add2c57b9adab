#!/usr/bin/env bash
# Reads cut where an adapter begins, with sequencing errors. --strand + is the strand of the read, and
# each letter of the adapter that is behind the end of a read counts as a difference.
set -euo pipefail
data=$(dirname "$(dirname "$0")")/data

kmatch edit "$data/phix_reads.fq" -p AGATCGGAAGAGC -k 2 --strand + --report loci -o adapters.tsv
cut -f 1-3,5,7 adapters.tsv

# The first table gives each read's first adapter, by which sequence and qualities are cut.
awk -F '\t' '
    NR == FNR { if (FNR > 1 && !($1 in start)) start[$1] = $2; next }
    FNR % 4 == 1 { name = substr($1, 2); sub(/ .*/, "", name) }
    FNR % 2 == 0 && name in start { $0 = substr($0, 1, start[name]) }
    { print }
' adapters.tsv "$data/phix_reads.fq" > trimmed.fq
head -n 8 trimmed.fq
