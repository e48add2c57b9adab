"""Cases of every problem by name: (records, patterns, k, options), which every device must pass."""


def named(*texts):
    return [(f"r{i}", text) for i, text in enumerate(texts)]


def _case(texts, patterns, k, **options):
    return named(*texts), patterns, k, options


HAMMING = {
    "at 0": _case(["ACGTTTTTTT"], ["ACGA"], 1),
    "at the end": _case(["TTTTTTTACGT"], ["ACGA"], 1),
    "m = 1": _case(["ACGTNACGT"], ["A", "N", "R"], 0),
    "m = n": _case(["ACGTTGCA"], ["ACGTTGCA", "ACGTTGCC"], 1),
    "m > n": _case(["ACGT"], ["ACGTA", "ACGTACGTAC"], 4),
    "m far beyond n": _case(["ACGT", "A"], ["ACGT" * 60], 3),
    "k = 0": _case(["ACGTACGTACGA"], ["ACGT", "CGTACG"], 0),
    "k = m - 1": _case(["ACGTNNACGTAC"], ["AC", "ACG"], 1),
    "palindrome": _case(["TTGAATTCTTGAATTC"], ["GAATTC"], 2),
    "runs of N": _case(["NNNNNNNNACGTNNNNNNN"], ["NNNN", "ACGT"], 2),
    "an N inside": _case(["ACGTNACGTACNT"], ["ACGTAACGT", "NNNNN"], 1),
    "lower case and U": _case(["acguacgUACGT"], ["acgU", "ACGT"], 1),
    "other letters": _case(["ACXGT*ACGT*RYSWKMBDHVNXACGTacgtryx"], ["ACGT"], 1),
    "empty records": _case(["", "ACGT", "", "", "CGTA", ""], ["ACG", "CGT"], 1),
    "one-letter records": _case(list("ACGTNACGT"), ["A", "AC"], 0),
    "no letters at all": _case(["", ""], ["ACG"], 1),
    "records apart": _case(["ACG", "TAC", "GTA"], ["ACGTAC", "GTAC"], 2),
    "thousands of tiny records": _case(["ACGTACGTA"[: i % 9] for i in range(2500)], ["CGTA"], 1),
    "duplicate patterns": _case(["ACGTACGT"], ["ACGT", "ACGT", "acgt"], 1),
    "mixed lengths": _case(["ACGTTGCAACGTTGCA"], ["ACG", "ACGTTGCA", "TG", "GCAACGT"], 1),
    "exact 3'": _case(["ACGTTGCAACGTAGCA", "TAAACGTTCAACGATT"], ["ACGTTG"], 2, exact_3p=2),
    "exact 5'": _case(["ACGTTGCAACGTAGCA", "TAAACGTTCAACGATT"], ["ACGTTG"], 2, exact_5p=3),
    "exact both, over all letters": _case(["ACGTTGCAACGTAGCA"], ["ACG"], 2, exact_5p=2, exact_3p=3),
    "plus only": _case(["ACGTTGCA"], ["ACGT", "TTG"], 1, strand="+"),
    "minus only": _case(["ACGTTGCA"], ["ACGT", "TTG"], 1, strand="-"),
    "every counter width": _case(["ACGTTGCATTAGCCAGT" * 8], ["ACGTTGCATTAGCCAGTACGTTGCA"], 19),
    "sixteen letters exactly": _case(["ACGTTGCATTAGCCAG" * 3], ["ACGTTGCATTAGCCAG"], 5),
    "long pattern": _case(["ACGTTGCATTAGCCAGTA" * 30], ["ACGTTGCATTAGCCAGTT" * 12], 40),
    "IUPAC": _case(["ACGTTGCATTAGCCAGTA" * 2], ["RYSWKM", "BDHVN", "NNNN", "ANNT"], 2),
}

MULTI = {
    "a PAM at the end": _case(["TTACGTTGG", "TTACGTTG", "ACGTAGG"], ["ACGT", "ACGA"], 1, pam="NGG"),
    "a PAM at 0 on the strand -": _case(["CCAACGTTT", "CATACGT"], ["ACGT", "AAAC"], 1, pam="NGG"),
    "a PAM before": _case(
        ["TTTAACGTGG", "TTTTACGT", "ACGTTAAA"], ["ACGT", "CGTG"], 1, pam="TTTV", pam_side="5p"
    ),
    "a PAM before, one strand": _case(
        ["TTTAACGTGGTACGTTAAA"], ["ACGT"], 1, pam="TTTV", pam_side="5p", strand="-"
    ),
    "a palindromic PAM": _case(["ACGTGATCACGTGATC"], ["ACGT", "TTTT"], 1, pam="GATC"),
    "all palindromic": _case(["GATCACGTGATC"], ["ACGT"], 0, pam="GATC", pam_side="5p"),
    "N in sites": _case(["ACGTNGGACGTANGACNTAGG", "NNNNNNN"], ["ACGT", "NNNN"], 1, pam="NGG"),
    "a PAM of all letters": _case(["ACGTTGCATTAGNCAGTA"], ["ACGT", "TTGC"], 2, pam="NNN"),
    "an IUPAC PAM": _case(["ACGTTAGAGTACGTCGGGATACTCGAACGT"], ["ACGT", "RYSW"], 1, pam="NNGRRT"),
    "a PAM in lower case and U": _case(["acguuggg"], ["acgU"], 0, pam="ugg"),
    "overlapping sites": _case(["ACACGGGGGGGGCCCCCCCTGT"], ["CGGG", "ACAC"], 2, pam="GG"),
    "no site": _case(["ACGTACGTACGTATATAT", "", "ACGT"], ["ACGT"], 1, pam="GGG"),
    "a PAM, k = 0": _case(["ACGTAGGACGAAGGCCTACGT"], ["ACGT", "ACGA"], 0, pam="NGG"),
    "a PAM and exact ends": _case(
        ["ACGTTGAGGACGTTCAGGTCGTTGAGG"], ["ACGTTG"], 2, pam="NGG", exact_5p=1, exact_3p=2
    ),
    "a PAM and duplicates": _case(["ACGTAGG"], ["ACGT", "ACGA", "ACGT"], 1, pam="NGG"),
    "a PAM longer than the pattern": _case(["ACGTTGCATTAG"], ["AC", "GC"], 1, pam="RNNNNNNNN"),
    "a PAM across records": _case(["ACGT", "AGG", "CCT", "ACGT"], ["ACGT"], 3, pam="NGG"),
    "m + PAM > n": _case(["ACGTAG", "ACGTAGG"], ["ACGT"], 1, pam="NGG"),
    "many sites": _case(["ACGGTTGGACCAGG" * 30], ["CGGT", "GACC"], 1, pam="NGG"),
    "several PAMs": _case(
        ["ACGTAGGACGTTAGACGTCCC", "CCTACGTCTTACGT"], ["ACGT", "AGAC"], 1, pam=["NGG", "NAG"]
    ),
    "several PAMs at one site": _case(
        ["ACGTAGGACGTTAGACGTCCC"], ["ACGT"], 1, pam="AGG,NGG,NRG", pam_side="5p"
    ),
    "a long pattern and a PAM": _case(
        ["ACGTTGCATTAGCCAGTA" * 30], ["ACGTTGCATTAGCCAGTT" * 9], 12, pam="ACG"
    ),
}


LONG = "ACGTTGCATTAGCCAGTACTGAACCGGTTAAGCTTCGATATCGGCTAAGGTCCATTGACGATGCAAGTC"  # 68 letters

EDIT = {
    "at 0": _case(["ACGTTTTTTT", "CGTTTTTTTT", "TTCGTTTTTT"], ["ACGAT"], 2),
    "at the end": _case(["TTTTTTTACGT", "TTTTTTTTACG", "TTTTTTTACGG"], ["ACGTA"], 2),
    "m = 1": _case(["ACGTNACGT"], ["A", "N", "R"], 0),
    "m = n": _case(["ACGTTGCA"], ["ACGTTGCA", "ACGTTGCC"], 3),
    "m > n": _case(["ACGT"], ["ACGTA", "ACGTACGTAC", "TTACGT"], 4),
    "m > n, k large enough": _case(["ACGT", "CG", "T"], ["TTACGTACGTAC"], 11),
    "m far beyond n": _case(["ACGT", "A"], ["ACGT" * 60], 3),
    "m far beyond n, k too": _case(["ACGT", "A", "GTAC" * 9], ["ACGT" * 20], 79),
    "k = 0": _case(["ACGTACGTACGA"], ["ACGT", "CGTACG"], 0),
    "k = m - 1": _case(["ACGTNNACGTAC", "NNACNN"], ["ACG", "TTT"], 2),
    "k = m - 1, two letters": _case(["ACGTNNACGTAC"], ["AC", "ACG"], 1),
    "palindrome": _case(["TTGAATTCTTGAATTC"], ["GAATTC"], 2),
    "nothing but N": _case(["NNNNNNNNNNNN", "N"], ["NNNN", "ACGT"], 3),
    "runs of N": _case(["NNNNNNNNACGTNNNNNNN"], ["NNNN", "ACGT"], 2),
    "an N inside": _case(["ACGTNACGTACNT", "ACGNNTACGT"], ["ACGTAACGT", "NNNNN"], 2),
    "N beside a repeat": _case(["N" * 30 + "AAAAAAA" + "N" * 30 + "AAA"], ["AAAAA", "TTTTT"], 2),
    "lower case and U": _case(["acguacgUACGTnacu"], ["acgU", "ACGT"], 1),
    "other letters": _case(["ACXGT*ACGT*RYACGT"], ["ACGT", "ACGRT"], 1),
    "empty records": _case(["", "ACGT", "", "", "CGTA", ""], ["ACG", "CGT"], 1),
    "one-letter records": _case(list("ACGTNACGT"), ["A"], 0),
    "one-letter records, two letters": _case(list("ACGTNACGT"), ["AC", "NN"], 1),
    "no letters at all": _case(["", ""], ["ACG"], 1),
    "records apart": _case(["ACG", "TAC", "GTA", "CGT"], ["ACGTAC", "GTAC", "ACGTACGTACGT"], 3),
    "records apart, k = m - 1": _case(["ACG", "TAC", "GTA"], ["ACGTACGTACGTACGTACGT"], 19),
    "hundreds of tiny records": _case(["ACGTACGTA"[: i % 9] for i in range(300)], ["CGTA"], 1),
    "duplicate patterns": _case(["ACGTACGT"], ["ACGT", "ACGT", "acgt"], 1),
    "mixed lengths": _case(["ACGTTGCAACGTTGCA"], ["ACG", "ACGTTGCA", "TG", "GCAACGT"], 1),
    "plus only": _case(["ACGTTGCA"], ["ACGT", "TTG"], 1, strand="+"),
    "minus only": _case(["ACGTTGCA"], ["ACGT", "TTG"], 1, strand="-"),
    "IUPAC": _case(["ACGTTGCATTAGCCAGTA" * 2], ["RYSWKM", "BDHVN", "NNNN", "ANNT"], 2),
    "a base left out": _case(["TTTTACGGCATTTTTACGCATTTT"], ["ACGTGCA"], 1),
    "a base too many": _case(["TTTTACGTTGCATTTTACGTGCAA"], ["ACGTGCA"], 1),
    "a plateau from 0 to the end": _case(["AAAAAAAA", "TTTTTTTT"], ["AAAA"], 3),
    "a plateau of mismatches": _case(["CAACAACAACAACC"], ["CAAG", "CTTG"], 1),
    "equal ends beside one another": _case(["GGGACGTAGGG"], ["ACGTCGG", "ACTTAGG"], 2),
    "poly-A": _case(["A" * 90], ["A" * 20, "A" * 12 + "C" + "A" * 7], 2),
    "poly-A on the strand -": _case(["C" + "A" * 200 + "GG"], ["T" * 13, "TTTTCTTTT"], 2),
    "poly-A and an N": _case(["A" * 40 + "N" + "A" * 33], ["A" * 9, "T" * 9], 3),
    "a pattern of one base elsewhere": _case(["ACGTTGCATTAGCCAGTA"], ["A" * 6, "C" * 9], 5),
    "satellites": _case(["AATGG" * 30], ["AATGGAATGGAATGG", "CCATTACATTCCATT"], 3),
    "dinucleotides": _case(["GT" * 40 + "N" + "AC" * 40], ["GTGTGTGTGTG", "ACACCACACA"], 3),
    "a locus over many chunks": _case(
        ["AATGG" * 12 + "AATCG" + "AATGG" * 25, "GG" + "CCATT" * 30], ["AATGGAATCGAATG"], 2
    ),
    "loci that only touch": _case(["ACGTACGTACGTTTACGTACGT"], ["ACGT"], 1),
    "loci in a chain": _case(["TTACGTGACGTGACGTGACGTTT"], ["ACGTGACGT", "CACGTCAC"], 2),
    "a tie in a locus": _case(["ACGTAACGTATTTTACGTTACGTT"], ["ACGTGACGT", "AACGTAACGT"], 3),
    "sixty-four letters": _case([LONG + "GG" + LONG[:20] + LONG[21:]], [LONG[:64]], 4),
    "more than sixty-four letters": _case(
        ["TTGACC" + LONG[:30] + "A" + LONG[30:] + "NN" + LONG[3:]], [LONG, LONG[:65]], 6
    ),
    "long, and short of every row": _case([LONG * 2 + "GTGTGT" + LONG[:50]], [LONG * 2], 30),
    "long and short together": _case([LONG + "ACGTTG"], [LONG, "ACGTTG", LONG[::-1]], 2),
    "long satellites": _case(["ACGTTGCATTAGCCAGTA" * 12], ["ACGTTGCATTAGCCAGTT" * 6], 20),
}

# Differences beside a PAM, with exact ends and within bounds of each kind.
CONSTRAINED = {
    "a PAM at the end": _case(
        ["TTACGTTGG", "TTACGTTG", "ACTAGG", "GGACGTT"], ["ACGT"], 2, pam="NGG"
    ),
    "a PAM at 0 on the strand -": _case(["CCAACTGTTT", "CATACGT"], ["ACAGT", "AAAC"], 1, pam="NGG"),
    "a PAM before": _case(
        ["TTTAACTGG", "TTTTACGT", "ACGTTAAA"], ["ACGT", "CGTG"], 1, pam="TTTV", pam_side="5p"
    ),
    "a PAM before, minima": _case(
        ["TTTATTTACGTACGTTTATTTATAAACGT"], ["ACGT"], 2, pam="TTTV", pam_side="5p", report="minima"
    ),
    "a PAM before, loci": _case(
        ["GATCACGTGATCGATCGGATC", "GATTCACGT"], ["ACGT"], 2, pam="GA", pam_side="5p", report="loci"
    ),
    "a palindromic PAM": _case(["ACGTGATCACGTGATC"], ["ACGT", "TTTT"], 1, pam="GATC"),
    "a PAM, minima": _case(["ACGGGGGGGTACGTTGGG"], ["ACGTT"], 3, pam="GG", report="minima"),
    "a PAM, loci": _case(["ACGTGGACGTGGGACGTTGG"], ["ACGT"], 2, pam="GG", report="loci"),
    "a PAM across records": _case(["ACGT", "AGG", "CCT", "ACGT"], ["ACGT"], 3, pam="NGG"),
    "a PAM and N": _case(["ACGTNGGACGTANGACNTAGG", "NNNNNNN"], ["ACGT", "NNNN"], 2, pam="NGG"),
    "several PAMs": _case(
        ["ACGTAGGACGTTAGACGTCCC", "CCTACGTCTTACGT"], ["ACGT", "AGTC"], 1, pam=["NGG", "NAG"]
    ),
    "several PAMs, one within another": _case(
        ["ACGTTGGGACGTTGGCACGTGG"], ["ACGTT"], 1, pam=["NGGG", "GG", "NGG"]
    ),
    "several PAMs before": _case(
        ["TTTAACGTTTGACGTAATTAACGT"], ["ACGT"], 1, pam=["TTTV", "TV"], pam_side="5p"
    ),
    "several PAMs, hits with both ends in common": _case(
        ["TGGCAG", "CTGCCA"], ["CTGG"], 3, pam=["RY", "NGG", "NNNNA"], pam_side="5p"
    ),
    # Minima that have both ends in common: their anchors decide.
    "equal ends, 5p": _case(
        ["TTCCGACAAATATGATTAAT"], ["ACAAA"], 2, pam=["NNA", "Y", "NNY", "NNNNT"], pam_side="5p"
    ),
    "equal ends, loci": _case(
        *(["TTCCGACAAATATGATTAAT"], ["ACAAA"], 2),
        **{"pam": ["NNA", "Y", "NNY", "NNNNT"], "pam_side": "5p", "report": "loci"},
    ),
    "equal ends, 3p": _case(
        ["TTAAAAATAATATTTTTAAT"], ["AATAT"], 2, pam=["NNR", "R", "NNNNA", "NNNR"], report="minima"
    ),
    "equal ends, loci, 3p": _case(
        ["TTAAAAATAATATTTTTAAT"], ["AATAT"], 2, pam=["NNR", "R", "NNNNA", "NNNR"], report="loci"
    ),
    "equal ends on a border of chunks": _case(
        *(["TCTCTAATAAATTTGCA"], ["TAATA"], 2),
        **{"pam": ["NNNNY", "NNNR", "NNT", "R"], "pam_side": "5p", "report": "minima"},
    ),
    "exact 3'": _case(["ACGTTGCAACGTAGCAACGTGTGC"], ["ACGTTGC"], 3, exact_3p=3, report="ends"),
    "exact 5'": _case(["ACGTTGCAACGTAGCAACGGTTGC"], ["ACGTTGC"], 3, exact_5p=3, report="ends"),
    "exact both": _case(["ACGTTGCAACTAGCAACGGTTGC"], ["ACGTTGC"], 3, exact_5p=2, exact_3p=2),
    "exact 5', many differences": _case(
        ["ACGTTGCAACTAGCAACGGTTGCCATTAGGCATTACG"],
        ["ACGTTGCAATTAGCAT"],
        13,
        exact_5p=3,
        report="ends",
    ),
    "exact 5' and few mismatches": _case(
        *(["ACGTTGCAACTAGCAACGGTTGCCATTAGGCATTACG"], ["ACGTTGCAATTAGCAT"], 11),
        **{"exact_5p": 2, "max_mismatches": 2, "max_deletions": 6},
    ),
    "exact, loci": _case(["ACGTTGCAACTAGCAACGGTTGC"], ["ACGTTGC"], 3, exact_3p=2, report="loci"),
    "all letters exact": _case(["ACGTTGCAACTTGC"], ["ACGTTGC"], 3, exact_5p=4, exact_3p=5),
    "all but k exact": _case(["GTTGCTTGCCTTGC"], ["ACGTTGC"], 5, exact_3p=4, report="ends"),
    "a PAM and exact ends": _case(
        ["ACGTTGAGGACGTTCAGGTCGTTGAGGACTTGAGG"], ["ACGTTG"], 3, pam="NGG", exact_5p=1, exact_3p=2
    ),
    "a PAM before and exact ends": _case(
        ["TTTAACGTTCGTTTAACGGTTG"], ["ACGTTG"], 3, pam="TTN", pam_side="5p", exact_5p=2, exact_3p=1
    ),
    "mismatches alone": _case(
        ["ACGTTGCAACTAGCAACGGTTGC"],
        ["ACGTTGC", "GTAGCT"],
        3,
        max_insertions=0,
        max_deletions=0,
        report="ends",
    ),
    "one bulge": _case(
        ["ACGTTGCAACTAGCAACGGTTGCGG"], ["ACGTTGC"], 4, max_mismatches=2, max_deletions=1
    ),
    "bulges alone": _case(["ACGTTGCAACTAGCAACGGTTGC"], ["ACGTTGC"], 3, max_mismatches=0),
    "bounds at the border of a record": _case(
        ["CGTTGC", "ACGTTG", "GTTGC", "AACGTAGC"], ["ACGTTGC"], 2, max_insertions=0, report="ends"
    ),
    "bounds and a PAM": _case(
        ["ACGTTGCAGGACGTGCTGGACGTTTGCCGGACCTTGCGG"],
        ["ACGTTGC"],
        3,
        pam="NGG",
        max_mismatches=1,
        max_insertions=1,
        max_deletions=1,
    ),
    "more than sixty-four letters": _case(
        ["TT" + "ACGTTGCATTAGCCAGTACTGAACCGG" * 3 + "TAGG"],
        ["ACGTTGCATTAGCCAGTACTGAACCGG" * 2 + "ACGTTGCTTAGCCAGTACTGAACCGG"],
        2,
        pam="NGG",
        report="ends",
    ),
}


def _primers(target, background, k, **options):
    return named(*target), named(*background), k, options


PRIMERS = {
    "as published": _primers(["ACTG"], ["AGCAAG"], 2, background_strand="+"),
    "both strands": _primers(["ACTGACTTACCAGT"], ["AGCAAG", "TTGACC"], 2, both_strands=True),
    "no background": _primers(["ACTGA"], [""], 3),
    "no background record": _primers(["ACTGA"], [], 3),
    "empty records": _primers(["", "ACTGA", "", "ACT"], ["", "ACT", ""], 2),
    "only empty records": _primers(["", ""], ["ACT"], 2),
    "no target record": _primers([], ["ACT"], 2),
    "target shorter than k": _primers(["ACT", "ACTGACT"], ["G"], 5),
    "k = 1": _primers(["ACGTACGTAAAACCCC"], ["ACGTAC"], 1),
    "N in the target": _primers(["ACGTNNACGTACGNTAC"], ["ACGTACGT"], 2),
    "N in the background": _primers(["ACGTACGTACGTAC"], ["ACNNACGT", "NNNN"], 2),
    "lower case, U and other letters": _primers(["acguRACGTACXgta"], ["ACGUacgtYY"], 2),
    "target inside the background": _primers(["ACGTTGCATTAGCC"], ["GGTACGTTGCATTAGCCTT"], 2),
    "minus strand inside the background": _primers(["ACGTTGCATT"], ["GGAATGCAACGTCC"], 1),
    "a repeat": _primers(["A" * 30 + "C" + "A" * 9], ["A" * 25], 2),
    "satellites": _primers(["AATGG" * 12], ["AATGG" * 3, "AATCG" * 9], 3),
    "max length": _primers(["ACGTTGCATTAGCCAACTGTTG"], ["ACGTTGCATTAGC"], 3, max_length=6),
    "max length = k": _primers(["ACGTTGCATTAGCCAACTGTTG"], ["CC"], 3, max_length=3),
    "k of a whole word": _primers(["ACGTTGCATTAGCCAGTA" * 6], ["ACTTGCATAGCCATA" * 4], 64),
}


NEAR, FAR = "TTCGGGCCC", "GATTACAGATTACAGATTACAGATTACAGATTACAGA"  # 9 and 37 letters
LIMITS_DIFFER = (
    [("a", NEAR[:8]), ("b", "CAACCGGGGT"), ("c", FAR), ("d", "ACGGT" * 60 + FAR)],
    [NEAR, "CAACCGGGGT", FAR, FAR[:32], FAR[18:] + FAR[:18], "AC" * 18, "CT" * 30],
    0,
    {},
)
TEXTS = [("a", "ACGTTGACCATTAGNNCAGGATACCAGTTGACCAT"), ("b", "TTGACCA"), ("c", "GGTACTGGTCAACC")]
PANEL = ["TTGACCA", "ACC", "GATACCAGTTGACCA", "AACCAGT", "TTGACCA"]
PAIRS = {"a": (["ACGTTG"], ["GGTAAG"]), "b": (["GGATCC"], ["CCTACG", "AGTACG"])}
SITES = [("r", "ACGTTGNNGGATCCACTTACCAACGTAGG"), ("s", "GGTAAGTTTACGTTGCAACGTACT")]
PRODUCTS = {
    name: (SITES, PAIRS, 1, {"product": (6, 30), "pairs": "any", "edit": edit})
    for name, edit in (("mismatches", False), ("differences", True))
}
