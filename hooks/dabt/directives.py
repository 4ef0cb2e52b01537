"""Markdown directives: a line `::: name argument` becomes the HTML of the renderer of that name.

Used from a MkDocs adapter in two steps, both safe to repeat (hooks run once per language):

    extensions = config.markdown_extensions
    config.markdown_extensions = with_renderer(extensions, "figure", render)  # on_config
    config.markdown_extensions = at_page(extensions, place)                   # on_page_markdown

A renderer is `(argument, place) -> HTML` and raises DabtError, with `place.file` and `place.line`,
when it cannot render. A directive stands alone on its line, in column 1; inside fences and HTML
comments it is left alone; inside a list, tab, admonition or quotation it is an error, because the
HTML would not land where the author meant.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

from dabt.problems import DabtError, Problem, did_you_mean

# After fenced code (25), whose text is out of reach by then, and before raw HTML (20).
RENDER_PRIORITY = 22
# Before snippets (32) and the normalising of white space (30), while lines are still the author's.
LOCATE_PRIORITY = 40

DIRECTIVE = re.compile(r":::\s*(?P<name>[^\s]*)(?:\s+(?P<argument>.*?))?\s*$")
# Also after a mark that nobody sees: editors put direction marks before Latin in an Arabic page.
NESTED = re.compile(
    r"(?P<before>(?:[\s\u200b-\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff]"
    r"|>|[-*+][ \t]|\d+[.)][ \t])+):::\s*[A-Za-z]"
)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)*(?P<mark>`{3,}|~{3,})(?P<info>.*)$")


@dataclass(frozen=True)
class Place:
    """Where a directive stands: the source file, its line, and the language shown.

    `page` is the path inside the language's tree (`quizzes/full-fine-tuning.md`), for links.
    """

    file: str
    line: int
    language: str
    page: str = ""


@dataclass(frozen=True)
class Directive:
    """A directive found in a page. `nested` when it is indented, listed or quoted."""

    name: str
    argument: str
    line: int
    column: int
    nested: bool = False


Renderer = Callable[[str, Place], str]


FRONT_MATTER = re.compile(r"---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*\n+", re.DOTALL)


def first_line(source: str) -> int:
    """The line at which the Markdown of a source begins, after front matter and blank lines."""
    match = FRONT_MATTER.match(source)
    return match[0].count("\n") + 1 if match else 1


def scan(text: str) -> tuple[Directive, ...]:
    """All directives of a Markdown source, right or wrong, outside fences and comments."""
    found = []
    for number, line in outside_code(text.split("\n")):
        if match := DIRECTIVE.match(line):
            found.append(Directive(match["name"], match["argument"] or "", number + 1, 1))
        elif match := NESTED.match(line):
            column = len(match["before"])
            inner = DIRECTIVE.match(line[column:])
            if inner:
                argument = inner["argument"] or ""
                found.append(Directive(inner["name"], argument, number + 1, column + 1, True))
    return tuple(found)


def check(text: str, file: str, names: Iterable[str]) -> tuple[Problem, ...]:
    """Problems of form: nested directives, unknown names. Arguments are the renderers' matter."""
    found = (_form_problem(directive, file, sorted(names)) for directive in scan(text))
    return tuple(problem for problem in found if problem)


def _form_problem(directive: Directive, file: str, names: Sequence[str]) -> Problem | None:
    place = (file, directive.line, directive.column)
    if directive.nested:
        message = f"'::: {directive.name}' inside a list, tab, admonition or quotation"
        mend = (
            "begin the line with ':::', with no space or invisible mark before it, "
            "outside the list or block"
        )
        return Problem(*place, message, "nested-directive", mend)
    if directive.name not in names:
        message = f"unknown directive '{directive.name}'"
        return Problem(*place, message, "unknown-directive", did_you_mean(directive.name, names))
    return None


def outside_code(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The numbered lines that are neither in a fence nor in an HTML comment.

    As in Markdown, a fence or a comment that nothing closes is text: it hides no line.
    """
    ends = _last_ends(lines)
    mark, comment = "", False
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if mark:
            closes = fence and fence["mark"].startswith(mark) and not fence["info"].strip()
            mark = "" if closes else mark
        elif comment:
            comment = "-->" not in line
        elif fence and "`" not in fence["info"] and _closed(fence["mark"], number, ends):
            mark = fence["mark"]
        else:
            prose = CODE.sub("", line)
            opens = prose.rfind("<!--") > prose.rfind("-->")
            comment = opens and _closed("-->", number, ends)
            yield number, line


def _last_ends(lines: Sequence[str]) -> dict[str, int]:
    """The last line of a page that holds each mark that can close a fence or a comment."""
    ends: dict[str, int] = {}
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if fence and not fence["info"].strip():
            ends[fence["mark"]] = number
        if "-->" in line:
            ends["-->"] = number
    return ends


def _closed(mark: str, number: int, ends: Mapping[str, int]) -> bool:
    """Whether what a mark would open at a line is closed below it."""
    return any(end > number for one, end in ends.items() if one.startswith(mark))


@dataclass
class _Lines:
    """The lines of a page's directives, kept from the first preprocessor for the second."""

    found: list[Directive] = field(default_factory=list)

    def take(self, seen: Directive) -> Directive:
        """The next directive that reads like this one; on line 1 when it came from elsewhere."""
        for index, directive in enumerate(self.found):
            if (directive.name, directive.argument) == (seen.name, seen.argument):
                return self.found.pop(index)
        return replace(seen, line=1)


class _Locate(Preprocessor):
    """Notes where the directives are before other preprocessors move lines."""

    def __init__(self, md: Markdown, known: _Lines, place: Place) -> None:
        super().__init__(md)
        self.known, self.place = known, place

    def run(self, lines: list[str]) -> list[str]:
        self.known.found = [
            replace(directive, line=directive.line + self.place.line - 1)
            for directive in scan("\n".join(lines))
        ]
        return lines


class _Render(Preprocessor):
    """Puts each renderer's HTML in the place of its directive, out of Markdown's reach."""

    def __init__(
        self, md: Markdown, known: _Lines, renderers: Mapping[str, Renderer], place: Place
    ) -> None:
        super().__init__(md)
        self.known, self.renderers, self.place = known, renderers, place

    def run(self, lines: list[str]) -> list[str]:
        problems: list[Problem] = []
        found = {directive.line - 1: directive for directive in scan("\n".join(lines))}
        result: list[str] = []
        for number, line in enumerate(lines):
            if number in found:
                html = self._html(found[number], problems)
                result += ["", self.md.htmlStash.store(html), ""]
            else:
                result.append(line)
        if problems:
            raise DabtError(problems)
        return result

    def _html(self, directive: Directive, problems: list[Problem]) -> str:
        directive = self.known.take(directive)
        place = replace(self.place, line=directive.line)
        if problem := _form_problem(directive, place.file, sorted(self.renderers)):
            problems.append(problem)
            return ""
        try:
            return self.renderers[directive.name](directive.argument, place)
        except DabtError as error:
            problems.extend(error.problems)
            return ""


class DirectiveExtension(Extension):
    """The Markdown extension: renderers by name, and the page that is being rendered.

    `place.line` is the line of the source at which the Markdown text begins (after front matter).
    """

    def __init__(self, renderers: Mapping[str, Renderer], place: Place) -> None:
        """Keep both; a new extension is made for each page, nothing here changes."""
        super().__init__()
        self.renderers, self.place = dict(renderers), place

    def extendMarkdown(self, md: Markdown) -> None:
        """Add the two preprocessors."""
        known = _Lines()
        md.preprocessors.register(_Locate(md, known, self.place), "dabt-locate", LOCATE_PRIORITY)
        render = _Render(md, known, self.renderers, self.place)
        md.preprocessors.register(render, "dabt-directives", RENDER_PRIORITY)


def renderers(extensions: Iterable[object]) -> dict[str, Renderer]:
    """The renderers that are registered in a list of Markdown extensions."""
    found = [item for item in extensions if isinstance(item, DirectiveExtension)]
    return {name: render for item in found for name, render in item.renderers.items()}


def with_renderer(extensions: Sequence[object], name: str, renderer: Renderer) -> list[object]:
    """The list of Markdown extensions in which one directive more (or anew) is known."""
    known = {**renderers(extensions), name: renderer}
    return _with(extensions, DirectiveExtension(known, Place("", 1, "")))


def at_page(extensions: Sequence[object], place: Place) -> list[object]:
    """The list of Markdown extensions for one page; the renderers stay."""
    return _with(extensions, DirectiveExtension(renderers(extensions), place))


def _with(extensions: Sequence[object], directive: DirectiveExtension) -> list[object]:
    others = [item for item in extensions if not isinstance(item, DirectiveExtension)]
    return [*others, directive]
