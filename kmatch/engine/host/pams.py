"""What stands beside anchored ends: their PAMs, and the letters that a view shows."""

import numpy as np

from kmatch.engine.constraints import Constraints, Sites, View
from kmatch.engine.differences import DifferenceQuery
from kmatch.engine.host.letters import decode
from kmatch.engine.host.sharing import SLAB, next_item
from kmatch.jit import kernel

NO_PAM = -1


@kernel
def read_view(view, position, step, count, out):
    """Write `count` letters from a position on as masks, 0 where the view shows none."""
    last = position + step * (count - 1)
    inside = min(position, last) >= 0 and max(position, last) < view.shown
    if inside and len(view.letters) == 0:
        decode(view.text, position, step, count, out)
        return
    for i in range(count):
        at = position + step * i
        if at < 0:
            out[i] = view.before[at] if -at <= len(view.before) else 0
        elif at >= view.shown:
            out[i] = 0
        elif len(view.letters) > 0:
            out[i] = view.letters[at]
        else:
            decode(view.text, at, 1, 1, out[i:])


@kernel
def read_stretch(view, position, letters):
    """Fill `letters`, uint8[n], with the masks of a View's letters from a position on."""
    read_view(view, position, 1, len(letters), letters)


@kernel
def pam_at(view, constraints, query, position, step, out):
    """The number of the first PAM that is beside an anchor, NO_PAM where there is none."""
    pams, sizes = constraints.pams[constraints.minus[query]], constraints.sizes
    if len(sizes) == 0:
        return NO_PAM
    read_view(view, position - step, -step, pams.shape[1], out)
    for number in range(len(sizes)):
        size = sizes[number]
        i = 0
        while i < size and pams[number, i] & out[i]:
            i += 1
        if i == size:
            return number
    return NO_PAM


@kernel
def letter_at(search, query, i):
    """The mask of pattern letter i, counted from the anchor, from 0."""
    letters, begins, _, bases = search.reading
    return bases[letters[begins[query + 1] - 1 - i]]


@kernel
def stand_beside(work, view, search, constraints, ends, beside):
    """Count the letters of the PAM beside each anchored end at which all required letters match.

    work: see `slabs`; view: View; search: DifferenceQuery; constraints: Constraints; ends:
    (position, query), int64[n] each; beside: int64[n], filled here, −1 where there is no PAM, or a
    required letter does not match.
    """
    positions, queries = ends
    wide, near = constraints.pams.shape[2], constraints.near
    out = np.empty(max(wide, near, 1), np.uint8)
    slab = next_item(work)
    while slab >= 0:
        for h in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            query, position = queries[h], positions[h]
            step = 1 if search.reading.backward[query] else -1
            beside[h] = 0
            if len(constraints.sizes) > 0:
                pam = pam_at(view, constraints, query, position, step, out)
                beside[h] = constraints.sizes[pam] if pam != NO_PAM else -1
            if beside[h] >= 0 and near > 0:
                read_view(view, position, step, near, out)
                for i in range(near):
                    if not (letter_at(search, query, i) & out[i]):
                        beside[h] = -1
        slab = next_item(work)


@kernel
def _any_pam(letters, at, step, pams, sizes):
    """Whether one of the PAMs begins at a position, read outwards."""
    for number in range(len(sizes)):
        i = 0
        while i < sizes[number] and pams[number, i] & letters[at + step * i]:
            i += 1
        if i == sizes[number]:
            return True
    return False


@kernel
def _find_anchors(view, constraints, minus, backward, sites):
    """Find the anchors on one strand, and return their number; position: int64[positions owned]."""
    letters, shown = view.letters, view.shown
    sizes, pams = constraints.sizes, constraints.pams[minus]
    wide, step = pams.shape[1], -1 if backward else 1
    text = view.text
    halo = text.plane_words // text.words - text.rows
    first, end = (0, shown - halo) if backward else (halo, shown)
    count = 0
    for position in range(first, end):
        hidden = position < wide if backward else position + wide >= shown
        if hidden or _any_pam(letters, position + step, step, pams, sizes):
            sites[count] = position
            count += 1
    return count


def find_anchors(view: View, search: DifferenceQuery, constraints: Constraints) -> Sites:
    """The Sites of PAMs in the letters of a View; see `AnchorScan.find_anchors`."""
    strands = np.unique(constraints.minus)
    parts = []
    for number, minus in enumerate(strands.tolist()):
        query = int(np.argmax(constraints.minus == minus))
        backward = int(search.reading.backward[query])
        found = np.empty(view.shown, np.int64)
        count = _find_anchors(view, constraints, minus, backward, found)
        kinds = np.full(count, number), np.full(count, backward, np.uint8)
        parts.append(Sites(found[:count], *kinds))
    return Sites(*(np.concatenate(column) for column in zip(*parts, strict=True)))
