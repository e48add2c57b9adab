"""What MkDocs does for the site: pages outside docs/, links between pages, help of functions.

Pages are written for a reader of the repository: they link to files by their paths there. The site
holds the pages of docs/ at its root, README.md as its first page, and every other file that a page
links to at its path in the repository.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# Pages outside docs/, paths in the repository.
OTHERS = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "examples/README.md",
    "scripts/results/README.md",
)
LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]+)(#[^)\s]*)?\)")
HELP = re.compile(r"^<!-- help: (\S+) -->$", re.M)
FENCED = re.compile(r"(^```.*?^```$)", re.M | re.S)


def site_path(path: str) -> str:
    """Return the path on the site of a file, by its path in the repository."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return re.sub(r"\bREADME\.md$", "index.md", path)


def repository_path(uri: str) -> str:
    """Return the path in the repository of a page, by its path on the site."""
    pages = {site_path(path): path for path in OTHERS}
    return pages.get(uri, f"docs/{uri}")


def joined(path: str, link: str) -> str:
    """Return the path in the repository of a link; path: of the page that it stands in."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), link))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of docs/ and those outside: pages, and what any page links to."""
    root = Path(config.docs_dir).parent
    pages = [*OTHERS, *(f"docs/{file.src_uri}" for file in files.documentation_pages())]
    wanted = set(OTHERS)
    for path in pages:
        text = FENCED.sub("", (root / path).read_text())
        wanted |= {joined(path, link) for link, _ in LINK.findall(text)}

    for path in sorted(wanted):
        if not path.startswith("docs/") and (root / path).is_file():
            source = str(root / path)
            files.append(File.generated(config, site_path(path), abs_src_path=source))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Return a page's text with links for the site, and with the help of functions."""
    uri = page.file.src_uri
    path = repository_path(uri)

    def on_site(match: re.Match[str]) -> str:
        target = site_path(joined(path, match[1]))
        relative = posixpath.relpath(target, posixpath.dirname(uri) or ".")
        return f"]({relative}{match[2] or ''})"

    parts = FENCED.split(markdown)
    parts[::2] = [LINK.sub(on_site, part) for part in parts[::2]]
    return HELP.sub(r"::: \1", "".join(parts))
