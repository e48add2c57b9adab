"""Bounds of primers' lengths from alignments along one diagonal, without insertions or deletions.

A seed is a word of the target that stands in the background too. Along its diagonal each letter of
the target lies above one of the background:

    target       ... A C G T T G C A A T ...
    background   ... A C G A T G C A G T ...
    mismatch               x         x

Any alignment with fewer than k differences shows that a primer which is covered by it is too short.
"""

from kmatch.engine.types import FRESH, UNKNOWN
from kmatch.jit.kernels import kernel

WORD = 11  # letters of a word in the index: 4 million words
STRIDE = 2  # background positions from one look-up to the next
EXACT = 16  # letters of an exact stretch that is worth an extension
MOST_SEEDS = 32  # target positions with one word that are tried
MISMATCH = 2  # what a mismatch costs an extension that gains 1 by a match
DROP = 40  # below the best score so far an extension ends
NONE = -1


@kernel
def index_words(codes, first_position, next_position):
    """Index the words of a target, by chains of positions.

    codes: uint8[n], 0 to 3 for A, C, G and T, more for other letters.
    first_position: int32[4^WORD], filled with −1; gets the last position of each word.
    next_position: int32[n], gets an earlier position with the same word, −1 for none.
    """
    word = 0
    known_count = 0
    for i in range(len(codes)):
        if codes[i] >= UNKNOWN:
            known_count = 0
            continue
        word = (word << 2 | codes[i]) & ((1 << 2 * WORD) - 1)
        known_count += 1
        if known_count >= WORD:
            position = i - WORD + 1
            next_position[position] = first_position[word]
            first_position[word] = position


@kernel
def _exact_length(codes, columns, position, column):
    """Return how many letters around a pair of positions are equal, EXACT at the most."""
    length = 0
    i = position
    j = column
    while (
        length < EXACT
        and i < len(codes)
        and j < len(columns)
        and codes[i] == columns[j]
        and codes[i] < UNKNOWN
    ):
        length += 1
        i += 1
        j += 1
    i = position - 1
    j = column - 1
    while length < EXACT and i >= 0 and j >= 0 and codes[i] == columns[j] and codes[i] < UNKNOWN:
        length += 1
        i -= 1
        j -= 1
    return length


@kernel
def _extended(codes, columns, position, column, step):
    """Return the first position of the target beyond an extension along a diagonal.

    step: +1 to the right, from `position` on; −1 to the left, from `position` − 1 on. The extension
    goes on until its score is DROP below the best one so far.
    """
    i = position if step > 0 else position - 1
    j = column if step > 0 else column - 1
    score = 0
    best = 0
    while 0 <= i < len(codes) and 0 <= j < len(columns) and columns[j] != FRESH:
        if codes[i] == columns[j] and codes[i] < UNKNOWN:
            score += 1
        else:
            score -= MISMATCH
        i += step
        j += step
        best = max(best, score)
        if score < best - DROP:
            break
    return i


@kernel
def _raise_along(codes, diagonal, columns, begin, end, k, limits, bounds, mismatches):
    """Raise the bounds of the starts begin … end−1 by the alignments along a diagonal.

    diagonal: added to a position of the target, it gives a position of the background.
    mismatches: int64[≥ end − begin], overwritten.

    From a start r the k-th mismatch at position x shows that r … x−1 has k − 1 differences:

        r          x                       k = 2: a primer from r on
        A C G T T G C A A T                holds at least the letters r … x
              x   x
    """
    count = 0
    for i in range(begin, end):
        if codes[i] != columns[i + diagonal] or codes[i] >= UNKNOWN:
            mismatches[count] = i
            count += 1
    behind = 0  # mismatches before the start
    for start in range(begin, end):
        while behind < count and mismatches[behind] < start:
            behind += 1
        if behind + k <= count:
            bound = mismatches[behind + k - 1] - start + 1
        else:  # each letter behind the alignment costs one difference at the most
            bound = end - start + k - (count - behind)
        bound = min(bound, limits[start] + 1)
        if bound > bounds[start]:
            bounds[start] = bound


@kernel
def raise_by_seeds(
    codes, columns, k, limits, bounds, first_position, next_position, seen, mismatches, budget
):
    """Raise the bounds of a target's starts by the diagonals of seeds in a background.

    codes: uint8[n], the target; columns: uint8[c], the background (see `kmatch.engine.types`).
    limits, bounds: int64[n], as in Starts; bounds are raised in place.
    first_position, next_position: of `index_words`.
    seen: int64[n], the diagonal that each position was last extended on; any to begin with.
    mismatches: int64[n], overwritten.
    budget: letters that extensions may take, all together; tandem repeats would take any number.
    """
    word = 0
    known_count = 0
    for j in range(len(columns)):
        if columns[j] >= UNKNOWN:
            known_count = 0
            continue
        word = (word << 2 | columns[j]) & ((1 << 2 * WORD) - 1)
        known_count += 1
        if known_count < WORD or j % STRIDE:
            continue
        column = j - WORD + 1
        position = first_position[word]
        for _ in range(MOST_SEEDS):
            if position == NONE:
                break
            diagonal = column - position
            is_open = bounds[position] <= limits[position] and seen[position] != diagonal
            if is_open and _exact_length(codes, columns, position, column) >= EXACT:
                begin = _extended(codes, columns, position, column, -1) + 1
                end = _extended(codes, columns, position, column, 1)
                _raise_along(codes, diagonal, columns, begin, end, k, limits, bounds, mismatches)
                seen[begin:end] = diagonal
                budget -= end - begin
                if budget < 0:
                    return
            position = next_position[position]
