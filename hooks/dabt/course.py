"""The whole course, read and checked at once: languages, strings, quizzes, figures, pages."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dabt import directives, pages
from dabt.addresses import Redirect, read_redirects, render_redirect
from dabt.calculator import check_calculator, read_calculator, render_calculator
from dabt.checks import Checks, check_group, read_checks
from dabt.crossing import check_crossing
from dabt.directives import Place
from dabt.figures import Figure, read_figures, render_figure
from dabt.frontmatter import check_front_matter
from dabt.glossary.lint import lint_terms
from dabt.glossary.load import check_taught, read_glossary
from dabt.glossary.model import Glossary
from dabt.glossary.page import Shown, render_glossary
from dabt.languages import Language, fallbacks, load_languages, marked
from dabt.links import served
from dabt.notebooks.choice import Choice, check_choices, read_choices
from dabt.offline.panel import render_panel
from dabt.problems import DabtError, Problem, did_you_mean
from dabt.quiz.lint import lint_quiz
from dabt.quiz.load import read_quizzes
from dabt.quiz.model import Quiz, Review, narrow
from dabt.quiz.page import check_directives, select
from dabt.quiz.render import Setting, render_quiz
from dabt.search.synonyms import Synonyms, read_synonyms
from dabt.snippets import check_includes
from dabt.translation.notice import Reader
from dabt.translation.page import render_page
from dabt.translation.survey import Survey, reading_order, survey
from dabt.ui import Ui, read_ui
from dabt.way.pages import Way, read_way
from dabt.way.progress import render_progress

DIRECTIVES = (
    "calculator",
    "checks",
    "figure",
    "glossary",
    "offline",
    "progress",
    "quiz",
    "translation",
)
SectionIds = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Course:
    """What pages are rendered from. `titles` has a heading by (language, page, section id)."""

    languages: tuple[Language, ...] = ()
    ui: Ui = field(default_factory=Ui)
    quizzes: Mapping[str, Quiz] = field(default_factory=dict)
    titles: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    glossary: Glossary = field(default_factory=Glossary)
    calculator: Mapping[str, Any] = field(default_factory=dict)
    translation: Survey = field(default_factory=Survey)
    synonyms: Synonyms = field(default_factory=dict)
    way: Way = field(default_factory=Way)
    redirects: tuple[Redirect, ...] = ()
    checks: Checks = field(default_factory=dict)
    notebooks: Mapping[str, Choice] = field(default_factory=dict)

    def shown_in(self, language: str, slug: str, keys: Collection[str] = ()) -> str:
        """The language in which a page shows what is one whole: its own once all is written."""
        chain = (language, *fallbacks(language, self.languages))
        return next((code for code in chain if self.translation.has(code, slug, keys)), language)

    def glossary_in(self, language: str) -> Glossary:
        """The glossary of a language's chapters: the terms that are written in it."""
        if not next((one.fallback for one in self.languages if one.code == language), ""):
            return self.glossary
        known = self.translation
        own = tuple(t for t in self.glossary.terms if known.has(language, "_data/glossary", [t.id]))
        return replace(self.glossary, terms=own)

    def speakers(self, prefix: str) -> tuple[Language, ...]:
        """The languages in which every interface string of a prefix is written."""
        keys = [key for key in self.ui.texts if key.startswith(prefix)]
        return tuple(o for o in self.languages if self.translation.has(o.code, "_data/ui", keys))

    def language(self, code: str) -> Language:
        """The language of a code."""
        return next(one for one in self.languages if one.code == code)

    def reader(self, language: str, page: str, tree: str = "") -> Reader:
        """Whom a page of a language speaks to; `tree` where another language's folder serves it."""
        keys = [key for key in self.ui.texts if key.startswith("translation.")]
        spoken = self.shown_in(language, "_data/ui", keys)
        return Reader(language, page, self.languages, self.ui, spoken, tree)

    def moved(self, language: Language, address: str = "") -> Iterator[tuple[Redirect, str]]:
        """Yield each redirect with its page; `address` is that of the site, if it is known."""
        keys = ("moved.title", "moved.body")
        code = self.shown_in(language.code, "_data/ui", keys)
        words = {key.removeprefix("moved."): self.ui.text(key, code) for key in keys}
        home = address and address + served("index.md", language)
        for one in self.redirects:
            page = f"{one.new.rstrip('/') or 'index'}.md"
            title = self.titles.get((language.code, page, ""), one.new).replace("`", "")
            yield one, render_redirect(one, language, title, {**words, "code": code}, home)


@dataclass(frozen=True)
class QuizRenderer:
    """The renderer of `::: quiz …` for `dabt.directives`."""

    course: Course

    def __call__(self, argument: str, place: Place) -> str:
        """The HTML of a quiz directive. Raises DabtError for an unknown quiz or question."""
        course = self.course
        quiz, chosen = select(argument, place, course.quizzes)
        keys = [quiz.slug, *(question.id for question in chosen)] if chosen else []
        language = course.shown_in(place.language, f"_data/quizzes/{quiz.slug}", keys)
        setting = Setting(language, place.page, course.ui, course.titles)
        return marked(render_quiz(quiz, setting, chosen), language, place.language)


@dataclass(frozen=True)
class FigureRenderer:
    """The renderer of `::: figure …` for `dabt.directives`."""

    course: Course

    def __call__(self, argument: str, place: Place) -> str:
        """The HTML of a figure directive. Raises DabtError for an unknown figure."""
        if argument not in self.course.figures:
            raise DabtError([_unknown_figure(argument, place, self.course)])
        language = self.course.shown_in(place.language, "_data/figures", [argument])
        html = render_figure(self.course.figures[argument], language, self.course.ui)
        return marked(html, language, place.language)


@dataclass(frozen=True)
class GlossaryRenderer:
    """The renderer of `::: glossary` for `dabt.directives`."""

    course: Course

    def __call__(self, argument: str, place: Place) -> str:
        """The HTML of all terms. Raises DabtError for an argument: there is one glossary."""
        if argument:
            raise DabtError([_needless_argument("glossary", argument, place)])
        course = self.course
        language = course.shown_in(place.language, "_data/glossary")
        written = course.translation.has
        names = [one for one in course.languages if written(one.code, "_data/glossary")]
        shown = Shown(language, place.page, course.ui, course.titles, names)
        return marked(render_glossary(course.glossary, shown), language, place.language)


@dataclass(frozen=True)
class CalculatorRenderer:
    """The renderer of `::: calculator memory` for `dabt.directives`."""

    course: Course

    def __call__(self, argument: str, place: Place) -> str:
        """The HTML of a calculator directive. Raises DabtError for an unknown calculator."""
        course = self.course
        keys = [key for key in course.ui.texts if key.startswith("calculator.")]
        language = course.shown_in(place.language, "_data/ui", keys)
        there = replace(place, language=language)
        html = render_calculator(argument, there, course.calculator, course.ui)
        return marked(html, language, place.language)


@dataclass(frozen=True)
class OfflineRenderer:
    """The renderer of `::: offline keep` and `::: offline archive` for `dabt.directives`."""

    course: Course

    def __call__(self, argument: str, place: Place) -> str:
        """The HTML of a part of the page on reading without a network. Raises DabtError."""
        course = self.course
        keys = [key for key in course.ui.texts if key.startswith("offline.")]
        language = course.shown_in(place.language, "_data/ui", keys)
        html = render_panel(argument, replace(place, language=language), course.ui)
        return marked(html, language, place.language)


@dataclass(frozen=True)
class TranslationRenderer:
    """The renderer of `::: translation` for `dabt.directives`."""

    course: Course

    def __call__(self, argument: str, place: Place) -> str:
        """The HTML of the state of all languages. Raises DabtError for an argument."""
        if argument:
            raise DabtError([_needless_argument("translation", argument, place)])
        return render_page(self.course.translation, self.course.reader(place.language, place.page))


@dataclass(frozen=True)
class ProgressRenderer:
    """The renderer of `::: progress` for `dabt.directives`."""

    course: Course

    def __call__(self, argument: str, place: Place) -> str:
        """The HTML of all chapters and quizzes, for the script to fill in."""
        if argument:
            raise DabtError([_needless_argument("progress", argument, place)])
        course = self.course
        return render_progress(course.way, course.quizzes, place, course.ui)


def read_course(docs: Path) -> tuple[Course, tuple[Problem, ...]]:
    """The course of a `docs` folder, with `examples` beside it, and all that is wrong with it."""
    data = docs / "_data"
    try:
        languages = load_languages(data / "languages.yml")
    except DabtError as error:
        return Course(), error.problems
    ui, problems = read_ui(data, languages)
    quizzes, found = read_quizzes(data / "quizzes", languages)
    glossary, on_glossary = read_glossary(data / "glossary.yml", languages)
    examples = docs.parent / "examples"
    figures, on_figures = read_figures(data / "figures", examples, languages)
    unread = {path.stem for path in data.glob("quizzes/*.yml")} - {quiz.slug for quiz in quizzes}
    all_pages = tuple(pages.read_pages(docs, languages))
    # Own pages last: their titles win.
    every = (*pages.shown_elsewhere(all_pages, languages), *all_pages)
    titles = {
        (page.language, page.path, name): title
        for page in every
        for name, title in pages.section_titles(page.text).items()
    }
    by_slug = {quiz.slug: quiz for quiz in quizzes}
    numbers = read_calculator(examples)
    order = reading_order(docs.parent / "mkdocs.yml")
    translation = survey(docs, languages, order, all_pages)
    synonyms, on_synonyms = read_synonyms(data, languages)
    way = read_way(docs.parent / "mkdocs.yml", all_pages, examples)
    redirects, on_addresses = read_redirects(data, all_pages)
    checks, on_checks = read_checks(data, languages)
    notebooks, on_notebooks = read_choices(data, examples)
    course = Course(
        languages,
        ui,
        by_slug,
        titles,
        figures,
        glossary,
        numbers,
        translation,
        synonyms,
        way,
        redirects,
        checks,
        notebooks,
    )
    on_pages = _check_pages(course, all_pages, unread)
    on_code = (one for page in all_pages for one in check_includes(page.text, page.file, examples))
    on_reviews = () if not all_pages else _check_sources(course, every)
    on_data = (*problems, *found, *on_figures, *on_glossary, *on_synonyms, *translation.problems)
    on_files = (*on_checks, *on_addresses, *on_notebooks)
    on_chapters = check_choices(notebooks, all_pages) if notebooks else ()
    return course, (*on_data, *on_files, *on_pages, *on_code, *on_reviews, *on_chapters)


def lint_course(course: Course) -> tuple[Problem, ...]:
    """The advice on all quizzes; only for a course without errors."""
    return tuple(one for quiz in course.quizzes.values() for one in lint_quiz(_own(course, quiz)))


def _own(course: Course, quiz: Quiz) -> Quiz:
    """The quiz in the languages that have written it: advice on a text is given once."""
    slug = f"_data/quizzes/{quiz.slug}"
    codes = [one.code for one in course.languages if course.translation.has(one.code, slug)]
    return narrow(quiz, codes)


def lint_words(course: Course, root: Path, all_pages: Iterable[pages.Page]) -> tuple[Problem, ...]:
    """What the glossary says of the words of all texts; not in a build, which it need not stop."""
    codes = tuple(language.code for language in course.languages)
    return tuple(lint_terms(course.glossary, root, all_pages, codes))


def _check_pages(
    course: Course, all_pages: Iterable[pages.Page], unread: Container[str]
) -> Iterator[Problem]:
    shown: set[str] = set()
    for page in all_pages:
        yield from directives.check(page.text, page.file, DIRECTIVES)
        yield from check_crossing(page, course.languages)
        yield from check_front_matter(page)
        place = Place(page.file, 1, page.language, page.path)
        found = directives.scan(page.text)
        problems, slugs = check_directives(found, place, course.quizzes, unread)
        yield from problems
        shown |= slugs
        for one in found:
            if one.name == "calculator" and not one.nested:
                problem = check_calculator(one, page.file, course.calculator)
                yield from (problem,) if problem else ()
            if one.name == "checks" and not one.nested:
                there = replace(place, line=one.line)
                problem = check_group(one.argument, there, course.checks)
                yield from (problem,) if problem else ()
            if one.name == "figure" and not one.nested and one.argument not in course.figures:
                yield _unknown_figure(
                    one.argument, Place(page.file, one.line, page.language), course
                )
    for quiz in course.quizzes.values():
        if quiz.slug not in shown:
            message = f"no page shows the quiz '{quiz.slug}'"
            mend = f"write '::: quiz {quiz.slug}' in a page, or delete the file"
            at = quiz.at
            yield Problem(at.file, at.line, at.column, message, "orphan", mend, "warning")


def _needless_argument(name: str, argument: str, place: Place) -> Problem:
    message = f"'::: {name}' takes nothing after it, and '{argument}' is there"
    return Problem(place.file, place.line, 1, message, "argument", f"write '::: {name}' alone")


def _unknown_figure(slug: str, place: Place, course: Course) -> Problem:
    mend = did_you_mean(slug, sorted(course.figures))
    return Problem(place.file, place.line, 1, f"unknown figure '{slug}'", "unknown-figure", mend)


def _check_sources(course: Course, all_pages: Iterable[pages.Page]) -> Iterator[Problem]:
    sections: dict[str, dict[str, frozenset[str]]] = {one.code: {} for one in course.languages}
    for page in all_pages:
        known = sections[page.language]
        names = frozenset(pages.section_titles(page.text))
        known[page.path] = names | known.get(page.path, frozenset())
    for language, known in sections.items():
        yield from check_reviews(course, language, known)
        yield from check_taught(course.glossary, language, known)


def check_reviews(course: Course, language: str, known: SectionIds) -> Iterator[Problem]:
    """Review targets that a language lacks; `known` has the section ids of each of its pages.

    A page or a section that is missing is said once, where it is first wanted.
    """
    said: set[tuple[str, str]] = set()
    for quiz in course.quizzes.values():
        for review in (question.review for question in quiz.questions if question.review):
            lacking = _lacking(review, known)
            if lacking and lacking not in said:
                said.add(lacking)
                yield _target_problem(review, language, known)


def _lacking(review: Review, known: SectionIds) -> tuple[str, str] | None:
    """The page, or the page and the section, that a review wants and that is not there."""
    if review.page not in known:
        return review.page, ""
    if review.section and review.section not in known[review.page]:
        return review.page, review.section
    return None


def _target_problem(review: Review, language: str, known: SectionIds) -> Problem:
    if review.page not in known:
        message = f"no page '{review.page}' in '{language}'"
        mend = did_you_mean(review.page, sorted(known))
    else:
        message = f"no section '{review.section}' in '{review.page}' in '{language}'"
        names = sorted(name for name in known[review.page] if name)
        mend = did_you_mean(review.section, names)
    at = review.at
    return Problem(at.file, at.line, at.column, message, "review-target", mend)
