"""Tables as HTML, for notebooks."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], more: int) -> str:
    """A table of cells that may hold anything; more: how many rows there are besides these."""
    lines = [f"<p>{escape(title)}</p>", "<table>", _line("th", columns)]
    lines += [_line("td", row) for row in rows]
    lines.append("</table>")
    if more:
        lines.append(f"<p>… and {more:,} more</p>")
    return "\n".join(lines)


def _line(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
