"""Addresses that readers keep: none of them vanishes without a redirect.

An address is that of a page in every language, below its home: `peft/lora/`.
`docs/_data/redirects.yml` maps an old one to a new one, which may name a section;
`docs/_data/addresses.txt` lists what was ever published, one a line, with its sections after it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from posixpath import relpath

from yaml import MappingNode

from dabt import yamlsource
from dabt.languages import Language, marked
from dabt.links import page_folder
from dabt.pages import Page, section_titles
from dabt.problems import Problem, did_you_mean, shown

REDIRECTS, ADDRESSES = "redirects.yml", "addresses.txt"
ADDRESS = re.compile(r"(?:[a-z0-9-]+/)+")
TARGET = re.compile(r"(?P<page>(?:[a-z0-9-]+/)*)(?:#(?P<section>[\w-]+))?")
RAW_ID = re.compile(r"""\sid=["']([\w-]+)["']""")
HEADER = "# Every address that was published, with its sections. 'make addresses' adds new ones.\n"
Known = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Redirect:
    """An address that moved: `old` is sent on to the page `new` and its `section`, if any."""

    old: str
    new: str
    section: str = ""

    @property
    def target(self) -> str:
        """The new address with its section."""
        return self.new + (f"#{self.section}" if self.section else "")


def known_addresses(pages: Iterable[Page]) -> Known:
    """Return address → ids of its sections, over all languages."""
    found: dict[str, frozenset[str]] = {}
    for page in pages:
        folder = page_folder(page.path)
        address = f"{folder}/" if folder else ""
        ids = {*section_titles(page.text), *RAW_ID.findall(page.text)} - {""}
        found[address] = found.get(address, frozenset()) | ids
    return found


def read_redirects(
    data: Path, pages: Iterable[Page]
) -> tuple[tuple[Redirect, ...], tuple[Problem, ...]]:
    """Return the redirects, and all that is wrong with them or with an address that vanished."""
    known = known_addresses(pages)
    redirects: tuple[Redirect, ...] = ()
    problems: tuple[Problem, ...] = ()
    if (data / REDIRECTS).is_file():
        root, findings = yamlsource.read(data / REDIRECTS)
        redirects = tuple(_read(root, known, findings))
        problems = tuple(findings.problems)
    moved = {one.old for one in redirects}
    return redirects, (*problems, *_vanished(data / ADDRESSES, known, moved))


def _read(root, known: Known, findings: yamlsource.Findings) -> Iterator[Redirect]:
    if root is None or not yamlsource.is_kind(root, MappingNode, findings):
        return
    moved = {key.value for key, _ in root.value}
    for key, value in root.value:
        old, new = (yamlsource.text_of(node, findings) for node in (key, value))
        target = TARGET.fullmatch(new)
        if not ADDRESS.fullmatch(old) or not target:
            mend = "write 'old/page/: new/page/', without the folder of a language"
            findings.at(key, f"'{old}: {new}' is no pair of addresses", "redirect-form", mend)
        elif problem := _wrong(old, target["page"], target["section"] or "", known, moved):
            findings.at(key, *problem)
        else:
            yield Redirect(old, target["page"], target["section"] or "")


def _wrong(
    old: str, page: str, section: str, known: Known, moved: set[str]
) -> tuple[str, str, str] | None:
    """Return message, code and cure of what is wrong with a redirect, if anything is."""
    if old in known:
        message = f"'{old}' is a page, which the redirect would replace"
        return message, "redirect-page", "delete this line, or the page"
    if page == old:
        return f"'{old}' is sent to itself", "redirect-loop", "name the new address"
    if page in moved:
        message = f"'{old}' is sent to '{page}', which is itself sent on"
        return message, "redirect-chain", f"send '{old}' to where '{page}' ends"
    if page not in known:
        message = f"'{old}' is sent to '{page}', which is no page"
        return message, "redirect-dead", did_you_mean(page, sorted(known))
    if section and section not in known[page]:
        message = f"'{old}' is sent to '{page}#{section}', and there is no such section"
        return message, "redirect-section", did_you_mean(section, sorted(known[page]))
    return None


def _lines(path: Path) -> Iterator[tuple[int, str, frozenset[str]]]:
    """Yield line number, address and sections of each published page."""
    text = path.read_text("utf-8") if path.is_file() else ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("# "):
            address, *sections = line.split()
            yield number, address.removeprefix("./"), frozenset(one[1:] for one in sections)


def _vanished(path: Path, known: Known, moved: set[str]) -> Iterator[Problem]:
    for number, address, _ in _lines(path):
        if address not in known and address not in moved:
            message = f"'{address}' was published, and now leads to nothing"
            mend = f"add '{address}: its/new/address/' to docs/_data/{REDIRECTS}"
            yield Problem(shown(path), number, 1, message, "address-vanished", mend)


def lint_addresses(data: Path, pages: Iterable[Page]) -> Iterator[Problem]:
    """Yield what never stops a build: sections that vanished, pages that are not listed yet."""
    known, path = known_addresses(pages), data / ADDRESSES
    if not path.is_file():
        return
    listed = {address: (number, sections) for number, address, sections in _lines(path)}
    for address, (number, sections) in listed.items():
        for section in sorted(sections - known.get(address, sections)):
            message = f"'{address}#{section}' was published, and now leads to the top of the page"
            mend = f'put <a id="{section}"></a> where it is taught now, or take it off this line'
            yield _warning(path, number, message, "section-vanished", mend)
    for address in sorted(known.keys() - listed.keys()):
        message = f"'{address}' is not among the addresses to keep"
        yield _warning(path, 1, message, "address-new", "make addresses")


def _warning(path: Path, line: int, message: str, code: str, mend: str) -> Problem:
    return Problem(shown(path), line, 1, message, code, mend, "warning")


def record_addresses(data: Path, pages: Iterable[Page]) -> int:
    """Add what is new to the list, which never loses a line; return how many pages it has."""
    path = data / ADDRESSES
    every = {address: set(sections) for _, address, sections in _lines(path)}
    for address, sections in known_addresses(pages).items():
        every.setdefault(address, set()).update(sections)
    lines = (" ".join((f"./{a}", *(f"#{s}" for s in sorted(every[a])))) for a in sorted(every))
    path.write_text(HEADER + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return len(every)


def render_redirect(
    redirect: Redirect, language: Language, title: str, words: Mapping[str, str], address: str = ""
) -> str:
    """Return the page that sends a reader on: at once, by a link, and for search engines.

    `words` has `title`, `body` and the language `code` they are in; `address` is that of the home
    of the language, or empty. A #section of the old page is tried in the new one.
    """
    up = relpath(f"/{redirect.new}", f"/{redirect.old}")
    link = escape(f"{up}/" + (f"#{redirect.section}" if redirect.section else ""))
    canonical = f'<link rel="canonical" href="{escape(address + redirect.new)}">\n'
    follow = f'<script>location.replace("{link}" + location.hash)</script>\n'
    text = f"<h1>{escape(words['title'])}</h1>\n"
    text += f'<p>{escape(words["body"])} <a href="{link}">{escape(title)}</a></p>'
    return (
        f'<!doctype html>\n<html lang="{language.code}" dir="{language.direction}">\n<head>\n'
        '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(words['title'])} · {escape(title)}</title>\n"
        f'<meta name="robots" content="noindex">\n{canonical if address else ""}'
        f"{'' if redirect.section else follow}"
        f'<meta http-equiv="refresh" content="0; url={link}">\n</head>\n<body>\n'
        f"{marked(text, words['code'], language.code)}\n</body>\n</html>\n"
    )
