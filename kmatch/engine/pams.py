"""PAMs: which ends have one beside them, and fulfil the rules.

With step 1 (see `kmatch.engine.queries.step_of`) a PAM stands to the right of its anchor:

    position       10  11  12  13  14  15  16  17  18  19
    text            G   A   C   G   T   T   A   A   G   G
    pattern CGTTA           >   >   >   >   a                 the anchor is at 16
    PAM NGG                                     N   G   G     at anchor + step, + 2·step, …
"""

import numpy as np

from kmatch.engine.cpu.hits import next_item
from kmatch.engine.cpu.vectors import pointer
from kmatch.engine.letters import anchor_of, read_view, sides_of
from kmatch.engine.states import are_binding, least_total, longest, new_spare
from kmatch.engine.workers import SLAB
from kmatch.jit.kernels import inlined, kernel


@kernel
def read_pam(view, constraints, anchor, letters):
    """Return how many letters the first PAM that stands beside an Anchor has, 0 where none does.

    letters: uint8[≥ w], or a pointer to as many, filled with the masks beside the anchor, from
    there outwards.
    """
    pams = constraints.pams[constraints.minus[anchor.query]]
    read_view(view, anchor.position + anchor.step, anchor.step, pams.shape[1], letters)
    for number, size in enumerate(constraints.sizes):
        i = 0
        while i < size and pams[number, i] & letters[i]:
            i += 1
        if i == size:
            return size
    return 0


@inlined
def _is_unknown(mask):
    """Return whether the letter of a mask is no A, C, G or T: the mask has not one bit."""
    return mask == 0 or mask & (mask - 1) != 0


@kernel
def limit_ends(work, view, search, constraints, most, ends):
    """Have alignments of Ends use no more than `most` unknown letters, unknown letters of their PAM
    included.

    ends.limit becomes the last letter before the one that is too many. Other arguments as for
    `keep_ends`.

        text      A N C G R T A C G N G      most 2, a PAM NGG behind the pattern's end C
        limit         ^         anchor
    """
    reading = search.reading
    pam_letters = np.empty(constraints.pams.shape[2], np.uint8)
    letters = np.empty(longest(reading.begins) + search.k, np.uint8)
    slab = next_item(work)
    while slab >= 0:
        for number in range(slab * SLAB, min((slab + 1) * SLAB, len(ends.limit))):
            anchor = anchor_of(ends, reading, number)
            left = most
            if len(constraints.sizes) > 0:
                size = read_pam(view, constraints, anchor, pam_letters)
                for i in range(size):
                    left -= _is_unknown(pam_letters[i])

            # As far as the letters suffice.
            inside = (anchor.position - anchor.limit) * anchor.step + 1
            shown = min(inside, len(letters))
            read_view(view, anchor.position, -anchor.step, shown, letters)
            used = 0
            while used < shown:
                left -= _is_unknown(letters[used])
                if left < 0:
                    break
                used += 1
            if left < 0:
                ends.limit[number] = anchor.position - anchor.step * (used - 1)
        slab = next_item(work)


@kernel
def keep_ends(work, view, search, constraints, ends):
    """Replace the distances of Ends by distances of alignments within constraints.

    A distance becomes −1 where no alignment is within the query's limit, and where no PAM stands
    beside the anchor. work: see `slabs`; view: View; search: DifferenceQuery; ends: Ends.
    """
    reading = search.reading
    distances = ends.distance
    pam_letters = np.empty(constraints.pams.shape[2], np.uint8)
    pattern = np.empty(longest(reading.begins), np.uint8)
    text = np.empty(len(pattern) + search.k, np.uint8)
    is_bound = are_binding(constraints)
    spare = new_spare(search, constraints)
    slab = next_item(work)
    while slab >= 0:
        # Pointers are taken inside the loop, whose next turn keeps their arrays alive.
        masks = pointer(pattern, 0)
        letters = pointer(text, 0)
        for number in range(slab * SLAB, min((slab + 1) * SLAB, len(distances))):
            anchor = anchor_of(ends, reading, number)
            needs_pam = len(constraints.sizes) > 0
            if needs_pam and not read_pam(view, constraints, anchor, pam_letters):
                distances[number] = -1
                continue
            if is_bound and anchor.distance >= 0:
                most = search.limits[anchor.query]
                sides = sides_of(view, reading, anchor, most, masks, letters)
                distances[number] = least_total(constraints, sides, anchor.distance, most, spare)
        slab = next_item(work)
