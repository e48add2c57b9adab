"""The meanings of the columns of tables, for pages."""

import re

_MEANINGS = {
    "rank": "the place among the guides: the most specific first, then the fewest sites",
    "genome": "the genome that the row is in",
    "sequence": "the record of the genome",
    "start": "the first letter's position on the forward strand, counted from 0",
    "end": "the position behind the last letter",
    "pattern": "the name of what was searched for",
    "distance": "differences between pattern and text",
    "strand": "+ where the text is read as it stands, − where its reverse complement is",
    "cigar": "the alignment in the pattern's direction: = equal, X other letter, I letter of the "
    "pattern alone, D letter of the text alone",
    "match": "the text in the pattern's direction",
    "k": "differences that the pattern may have",
    "score": "1000 without differences, 0 with as many as letters",
    "query": "the pattern's letters",
    "mismatches": "letters that differ",
    "insertions": "letters of the pattern that the text lacks",
    "deletions": "letters of the text that the pattern lacks",
    "positions": "positions of the differences, counted from 1 at the pattern's 5′ end",
    "differences_3p": "differences in the last five letters",
    "unknown": "letters of the text that are no A, C, G or T, or answers that are unknown",
    "cut": "the position behind which Cas9 cuts",
    "flank_5p": "ten letters before the text",
    "flank_3p": "ten letters behind the text",
    "site": "the place that the hit is at",
    "cfd": "CFD score of the site: how readily SpCas9 cuts it, 1 as much as the guide's own",
    "mit": "MIT score of the site, 100 without differences",
    "gene": "genes that it overlaps",
    "region": "exon, intron or intergenic",
    "nearest_gene": "the nearest genes",
    "nearest_distance": "how far the nearest gene is, 0 where they overlap",
    "variants": "alleles that make the hit, CHROM:POS:REF:ALT; empty for the reference",
    "alleles": "alleles under the hit of the reference",
    "af": "the smallest frequency of these alleles",
    "samples": "who carries them",
    "reference_distance": "the reference's distance there, empty where it is more than k",
    "name": "the name of the pair, or of the guide",
    "length": "letters of it, in all",
    "forward": "the forward primer, or its differences",
    "reverse": "the reverse primer, or its differences",
    "probe": "the probe's differences",
    "product": "the product's letters",
    "guide": "the guide's letters; the button opens its sites",
    "pam": "what stands beside the guide",
    "gc": "the share of G and C",
    "tm": "the melting temperature, °C",
    "tttt": "1 where four T end transcription from a U6 promoter",
    "specificity": "1 ÷ (1 + CFD of all sites but one perfect one)",
    "variant_sites": "places that alleles make, or bring closer",
    "specificity_variants": "the specificity, each place with its greatest CFD of any haplotype",
    "target_variants": "alleles with which a copy lacks the guide's own place",
    "target_af": "the greatest frequency of these",
    "assay": "the name of the assay",
    "amplifies": "yes where there is a product, no where there is none, unknown where unknown "
    "letters or the end of a record hide it",
    "reason": "why not, or what hides it: an oligo without a site, another length, sites that do "
    "not face each other",
    "hits": "hits of the pattern",
    "total": "all of them",
    "pair": "the name of the pair",
    "products": "products of the pair",
    "amplified": "genomes that the assay amplifies",
    "true_positive": "targets that amplify",
    "false_negative": "targets that do not",
    "false_positive": "other genomes that amplify",
    "true_negative": "other genomes that do not",
}
# By expressions of names, with what these hold.
_FAMILIES = {
    r"d(\d+)": "sites or hits with {} differences",
    r"specificity_(\w+)": "the specificity by the score {}",
    r"(forward|reverse|probe)_start": "the first letter of the {}'s site",
    r"(forward|reverse|probe)_end": "the position behind the {}'s site",
    r"(forward|reverse|probe)_3p": "differences in the last five letters of the {} oligo",
    r"distance_(forward|reverse|probe)": "differences of the {}",
    r"cigar_(forward|reverse|probe)": "the alignment of the {}",
    r"match_(forward|reverse|probe)": "the text at the {}'s site",
    r"tm_(forward|reverse|probe)": "the melting temperature of the {} oligo's duplex, °C",
}


def meaning_of(heading: str) -> str:
    """Return the meaning of a column by its heading; nothing for an unknown one."""
    if heading in _MEANINGS:
        return _MEANINGS[heading]
    for expression, meaning in _FAMILIES.items():
        if found := re.fullmatch(expression, heading):
            return meaning.format(found[1])
    return ""
