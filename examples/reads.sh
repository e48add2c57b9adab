#!/usr/bin/env bash
# An adapter in sequencing reads, with sequencing errors: reads.sh [FOLDER]
#
# Reads are records: FASTQ, compressed or not, also from a pipe. Insertions and deletions count.
set -euo pipefail
here=$(dirname "$0") out=${1:-.}
adapter=AGATCGGAAGAGCACACGTC

python3 "$here/make_data.py" reads "$here/data/lambda_phage.fa.gz" "$out/reads.fastq"

gzip -c "$out/reads.fastq" |
    kmatch edit - -p "$adapter" -k 3 --strand + --report loci -o "$out/adapters.tsv"

# Reads with the adapter, and where it begins in the first of them.
echo "$(tail -n +2 "$out/adapters.tsv" | cut -f 1 | uniq | wc -l) of" \
    "$(($(wc -l < "$out/reads.fastq") / 4)) reads"
sed -n 2,4p "$out/adapters.tsv" | cut -f 1-3,5,7
