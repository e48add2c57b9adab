"""A genome for tests of the functions for Python, and how they are called."""

import kmatch
from support.commands import random_letters

TEXT = random_letters(3_000)
RECORDS = [("one", TEXT[:1_000]), ("two", ""), ("three", TEXT[1_000:])]
GENOME = kmatch.Genome.from_records(RECORDS)


def call(function, *arguments, **options):
    return function(*arguments, **{"device": "cpu", "threads": 1, **options})
