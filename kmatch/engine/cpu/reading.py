"""Bytes of FASTA and FASTQ taken apart: the letters of records, and their names.

Line ends, other blanks and the text behind a name are left out:

    >a 1⏎ACg⏎T⏎>bc⏎G        letters ACgTG, bounds 0 4 5; names abc, bounds 0 1 3
"""

import numpy as np

from kmatch.engine.cpu.vectors import NONE, ONE, bits_alike, lowest, pointer
from kmatch.jit.kernels import kernel

FEED = ord("\n")
SPACE = ord(" ")
TAB, RETURN = ord("\t"), ord("\r")  # the first and the last of all other blanks
TITLE, PLUS = ord("@"), ord("+")  # begin the first and the third line of a read
STEP = 64  # bytes that `bits_alike` looks at
NO_CONTROL = np.full(STEP, 0xE0, np.uint8)  # bits of which any byte from the space on has one
FNV_OFFSET, FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


@kernel
def _line_end(data, place):
    """Return where the line that a place is in ends: at its LF, or at the end of data, uint8[n]."""
    while place + STEP <= len(data):
        controls = ~bits_alike(data, place, NO_CONTROL, 0)
        if controls == NONE:
            place += STEP
        elif data[place + lowest(controls)] == FEED:
            return place + lowest(controls)
        else:
            place += lowest(controls) + 1
    while place < len(data) and data[place] != FEED:
        place += 1
    return place


@kernel
def whole_reads(data):
    """Return how many bytes of data, uint8[n], are whole reads: four lines, and blank ones before
    these."""
    place = whole = lines = 0
    line_end = _line_end(data, place)
    while line_end < len(data):
        lines += lines > 0 or line_end > place
        place = line_end + 1
        if lines == 4:
            whole = place
            lines = 0
        line_end = _line_end(data, place)
    return whole


@kernel
def _put_letters(data, place, stop, table, letters, count):
    """Write the letters of data[place … stop−1] behind so many letters; returns their number
    then."""
    source = pointer(data, 0)
    target = pointer(letters, 0)
    for i in range(place, stop):
        letter = table[source[i]]
        target[count] = letter
        count += letter != 0
    return count


@kernel
def _put_name(data, place, stop, names, count):
    """Write the first word of data[place … stop−1] behind so many bytes; returns how many there are
    then."""
    first = count
    for i in range(place, stop):
        if data[i] != SPACE and not TAB <= data[i] <= RETURN:
            names[count] = data[i]
            count += 1
        elif count > first:
            break
    return count


@kernel
def take_apart(data, begins, mark, table, letters, names, bounds):
    """Take records apart, reads up to the first that is none; returns how many records begin.

    data: uint8[n], whole lines, but for the first one: where no record `begins` with it, letters of
    the record before go on there; mark: the first character of a record, TITLE for reads; table:
    uint8[256], the letter for each byte of a text, 0 where it is left out; letters, names:
    uint8[n], filled here; bounds: int64[3, n // 2 + 2], filled with where the letters, the name and
    the lines of each record begin, and where they end for the last record.
    """
    records = 0
    bounds[:, 0] = 0
    while bounds[2, records] < len(data):
        place = bounds[2, records]
        line_end = _line_end(data, place)
        text = place
        text_end = line_end
        if data[place] == mark and (begins or place > 0):
            text = text_end = line_end + 1
            if mark == TITLE:
                text_end = _line_end(data, text)
                plus = text_end + 1
                quality = _line_end(data, plus) + 1
                line_end = _line_end(data, quality)
                is_whole = quality <= len(data) and data[plus] == PLUS
                if not is_whole or line_end - quality != text_end - text:
                    break
            records += 1
            for row in range(3):
                bounds[row, records] = bounds[row, records - 1]
            bounds[1, records] = _put_name(data, place + 1, text - 1, names, bounds[1, records])
        elif mark == TITLE and line_end > place:
            break
        letter_count = bounds[0, records]
        bounds[0, records] = _put_letters(data, text, text_end, table, letters, letter_count)
        bounds[2, records] = line_end + 1
    return records


@kernel
def first_repeated(letters, bounds, seen):
    """Return the number of the first of n names that came before, −1 where none did.

    letters, bounds: of the names, as RecordNames has them; seen: uint64, a power of two and more
    than there are names, the hashes of names that came before, to which these are added, and zeros.
    The hash is FNV-1a: two of a million different names have the same in one of 10 million cases.
    """
    last = len(seen) - 1
    for name in range(len(bounds) - 1):
        mixed = FNV_OFFSET
        for i in range(bounds[name], bounds[name + 1]):
            mixed = (mixed ^ np.uint64(letters[i])) * FNV_PRIME
        mixed |= ONE  # as zero is no hash
        slot = np.int64(mixed >> ONE) & last
        while seen[slot] != NONE and seen[slot] != mixed:
            slot = (slot + 1) & last
        if seen[slot] == mixed:
            return name
        seen[slot] = mixed
    return -1
