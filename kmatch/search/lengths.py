"""How long the longest record of a genome is, heard while it is searched."""

from functools import wraps


class LongestRecord:
    """`letters`: of the longest record so far, or more than a chunk shows of it."""

    def __init__(self):
        self.letters = 0

    def hear(self, spans):
        self.letters = max(self.letters, int(spans.lengths.max(initial=0)))


def telling_spans(packed_chunks):
    """Have genome.on_spans(spans), where it is set, hear of the records in each chunk."""

    @wraps(packed_chunks)
    def told(genome, *arguments, **options):
        for chunk in packed_chunks(genome, *arguments, **options):
            if genome.on_spans:
                genome.on_spans(chunk.spans)
            yield chunk

    return told
