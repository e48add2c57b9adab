"""Facts of reports for MultiQC: a section for each kind of search, a row for each report."""

import os
from typing import Any, NamedTuple

ENDINGS = ("_mqc.json", ".kmatch.json", ".json")  # that the names of reports have behind a sample's


class Section(NamedTuple):
    """A section of MultiQC's page.

    title: above it; counted: the label of the bars' axis; description: below the title.
    """

    title: str
    counted: str
    description: str


HITS = Section("Hits", "Hits", "Hits of all patterns, by their differences.")
# By command.
SECTIONS = {
    "hamming": HITS,
    "multi": HITS,
    "edit": HITS,
    "best": HITS,
    "pcr": Section("Products", "Products", "Products that pairs of primers make."),
    "primer": Section("Primers", "Primers", "Primers that a background lacks."),
    "guides": Section("Guides", "Sites", "Sites of all guides, by their differences."),
    "assay": Section("Assays", "Assays and genomes", "Whether assays amplify genomes."),
    "filter": Section("Filtered reads", "Reads", "Reads that are kept, and others."),
    "demux": Section("Reads by barcode", "Reads", "Whether reads have a barcode."),
}


def facts_for_multiqc(
    command: str, path: str, totals: list[int] | None, facts: dict[str, Any]
) -> dict[str, Any]:
    """Return the facts of a report for MultiQC.

    path: of the report, which names its row; totals: of the hits by distance, where there are any;
    facts: the others of the report.
    """
    section = SECTIONS[command]
    key = f"kmatch_{section.title.lower().replace(' ', '_')}"
    return {
        "id": key,
        "parent_id": "kmatch",
        "parent_name": "kmatch",
        "section_name": section.title,
        "description": section.description,
        "plot_type": "bargraph",
        "pconfig": {
            "id": f"{key}_plot",
            "title": f"kmatch: {section.title}",
            "ylab": section.counted,
        },
        "data": {sample_of(path): bars_of(section, totals, facts)},
    }


def sample_of(path: str) -> str:
    """Return the name of a report's sample: the name of its file without the ending."""
    name = os.path.basename(path)
    for ending in ENDINGS:
        if name.endswith(ending):
            return name.removesuffix(ending)
    return name


def bars_of(section: Section, totals: list[int] | None, facts: dict[str, Any]) -> dict[str, int]:
    """Return the lengths of bars by their names."""
    if totals is not None:
        return {f"d{distance}": total for distance, total in enumerate(totals)}
    if "reads" in facts:
        return dict(facts["reads"])
    if "assays" in facts:
        amplified = sum(row["amplified"] for row in facts["assays"])
        unknown = sum(row.get("unknown", 0) for row in facts["assays"])
        return {"yes": amplified, "unknown": unknown, "no": facts["hits"] - amplified - unknown}
    return {section.counted: facts["hits"]}
