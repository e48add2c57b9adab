"""Nucleases: the PAM that each stands beside, and the letters of its guides.

A nuclease is listed where two of its primary paper, CRISPOR (its list of PAMs) and crisprBase (its
`CrisprNuclease` objects) agree on PAM, side and length:

    cas9            CRISPOR, crisprBase; Jinek 2012
    spg, spry       CRISPOR, for SpG crisprBase; Walton 2020
    cas9-vqr, -vrer CRISPOR; Kleinstiver 2015
    sacas9          CRISPOR, crisprBase; Ran 2015
    sacas9-kkh      CRISPOR; Kleinstiver 2015
    cjcas9          CRISPOR, its revised PAM; Yamada 2017
    nme2cas9        CRISPOR; Edraki 2019
    cas12a          CRISPOR, crisprBase; Zetsche 2015
    encas12a        CRISPOR; Kleinstiver 2019
    casx            CRISPOR; Liu 2019

SpRY cuts beside NYN too, weakly. Neither NumPy nor Numba is imported: the command line needs the
names for `--help`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kmatch.arguments import check_choice
from kmatch.errors import InputError


class Nuclease(NamedTuple):
    """A nuclease.

    title: as papers write its name; pam: beside its guides, one PAM or several; side: `3p` behind
    the guide or `5p` before it; length: letters of a guide.
    """

    title: str
    pam: str | Sequence[str]
    side: str
    length: int


CAS9 = "cas9"
NUCLEASES = {
    CAS9: Nuclease("SpCas9", "NGG", "3p", 20),
    "spg": Nuclease("SpG", "NGN", "3p", 20),
    "spry": Nuclease("SpRY", "NRN", "3p", 20),
    "cas9-vqr": Nuclease("SpCas9-VQR", "NGA", "3p", 20),
    "cas9-vrer": Nuclease("SpCas9-VRER", "NGCG", "3p", 20),
    "sacas9": Nuclease("SaCas9", "NNGRRT", "3p", 21),
    "sacas9-kkh": Nuclease("SaCas9-KKH", "NNNRRT", "3p", 21),
    "cjcas9": Nuclease("CjCas9", "NNNNRYAC", "3p", 22),
    "nme2cas9": Nuclease("Nme2Cas9", "NNNNCC", "3p", 24),
    "cas12a": Nuclease("AsCas12a, LbCas12a", "TTTV", "5p", 23),
    "encas12a": Nuclease("enAsCas12a", "TTYN,VTTV,TRTV", "5p", 23),
    "casx": Nuclease("CasX, Cas12e", "TTCN", "5p", 20),
}


def pam_of(
    name: str | None, pam: str | Sequence[str] | None, side: str | None
) -> tuple[str | Sequence[str] | None, str]:
    """Return the PAM and its side that a user gives, by the name of a nuclease or as they are.

    Raises InputError for both, and for an unknown nuclease.
    """
    if name is None:
        return pam, side or "3p"
    check_choice("nuclease", name, tuple(NUCLEASES))
    if pam is not None or side is not None:
        raise InputError(f"nuclease {name} sets the PAM and its side; leave one of them out")
    nuclease = NUCLEASES[name]
    return nuclease.pam, nuclease.side


def guide_length_of(name: str | None, length: int | None) -> int:
    """Return the letters of guides that a user gives, likewise."""
    if length is None:
        return NUCLEASES[name or CAS9].length
    if name is not None:
        raise InputError(f"nuclease {name} sets the length of guides; leave one of them out")
    return length
