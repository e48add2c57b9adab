#!/usr/bin/env bash
# Sites of guides that people have and the reference has not, out of a VCF: with which alleles, in whom,
# and how many mismatches the reference has there (none is told if they are more than -k).
set -euo pipefail
here=$(dirname "$0") data=$(dirname "$(dirname "$0")")/data

kmatch multi "$data/human_mito_rcrs.fa.gz" "$here/guides.txt" -k 3 --pam NGG \
    --variants "$data/mito_variants.vcf" --score cfd -o sites.tsv \
    --columns pattern,start,strand,distance,cfd,variants,af,samples,reference_distance
cat sites.tsv
