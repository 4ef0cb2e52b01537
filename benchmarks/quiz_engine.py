"""How much CPU quizzes cost, with mkdocs-quiz as the yardstick when it is installed.

    python benchmarks/quiz_engine.py                       # 990 questions in two languages
    python benchmarks/quiz_engine.py --questions 300 --repeat 1

Measured, as user + system seconds of the process that does the work, the least of the repeats:

- the library alone: read, check and render every quiz in Arabic and in French;
- a site: what the same site costs more with its quizzes than without (`plain`), built by MkDocs
  with Material and mkdocs-static-i18n; the same questions in the syntax of mkdocs-quiz beside it.

The questions are single choices of four options, with a reason for each wrong one, a hint and an
explanation, 30 in a page.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "hooks"))

from dabt.course import QuizRenderer, read_course  # noqa: E402
from dabt.directives import Place  # noqa: E402
from dabt.problems import report  # noqa: E402

PER_PAGE = 30
CONFIG = """\
site_name: benchmark
theme: {{name: material, language: ar, font: false}}
exclude_docs: _data/
hooks: [{hooks}]
markdown_extensions: [attr_list, pymdownx.superfences, pymdownx.highlight]
plugins:
  - search
  - i18n:
      docs_structure: folder
      reconfigure_search: false
      languages:
        - {{locale: fr, name: fr, build: true}}
        - {{locale: ar, name: ar, default: true, build: true}}
{plugins}
"""
WORDS = {
    "fr": (
        "Pour le cas {n}, combien d'octets les états d'AdamW occupent-ils en `float32` ?",
        ("Deux moments de quatre octets", "Un seul de ces moments", "Rien", "Le double"),
        "C'est la taille d'un seul des deux moments, et non des deux.",
        "AdamW garde deux nombres par paramètre, dans le cas {n} comme dans les autres.",
    ),
    "ar": (
        "في الحالة {n}، كم بايتًا تشغل حالة AdamW لكل مَعْلَمة في `float32`؟",
        ("عزمان لكل منهما أربعة بايتات", "عزم واحد من أربعة بايتات", "لا شيء على الإطلاق", "الضعف"),
        "هذا حجم أحد العزمين فقط، لا حجمهما معًا.",
        "يحتفظ AdamW بعددين لكل مَعْلَمة، في الحالة {n} كما في غيرها.",
    ),
}  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--questions", type=int, default=990)
    parser.add_argument("--repeat", type=int, default=2)
    chosen = parser.parse_args()
    quizzes = -(-chosen.questions // PER_PAGE)
    count = quizzes * PER_PAGE
    print(f"{count} questions in 2 languages, CPU seconds (per 1,000 questions)")
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder)
        write_dabt(site / "dabt", quizzes)
        show("library alone", least(lambda: library(site / "dabt"), chosen.repeat), count)
        write_site(site / "plain", quizzes, lambda page, language: "", "")
        plain = least(lambda: build(site / "plain"), chosen.repeat)
        print(f"  {'site without quizzes':28}{plain:7.2f}")
        ours = least(lambda: build(site / "dabt"), chosen.repeat) - plain
        show("dabt adds to the site", ours, count)
        if find_spec("mkdocs_quiz"):
            write_site(site / "peer", quizzes, peer_page, "  - mkdocs_quiz")
            peer = least(lambda: build(site / "peer"), chosen.repeat) - plain
            show("mkdocs-quiz adds", peer, count)
            print(f"  dabt / mkdocs-quiz = {ours / peer:.2f}")
        else:
            print("  mkdocs-quiz is not installed here: no yardstick")


def show(name: str, seconds: float, count: int) -> None:
    """Print one figure, as measured and per 1,000 questions."""
    print(f"  {name:28}{seconds:7.2f}   ({seconds * 1000 / count:.2f})")


def least(action: Callable[[], float], repeat: int) -> float:
    """The least seconds of some runs: others are disturbed by what else the machine does."""
    return min(action() for _ in range(repeat))


def library(site: Path) -> float:
    """CPU seconds to read, check and render all quizzes of a site in both languages."""
    begun = time.process_time()
    course, problems = read_course(site / "docs")
    assert not problems, report(problems)
    renderer = QuizRenderer(course)
    for language in WORDS:
        for slug in course.quizzes:
            renderer(slug, Place("x.md", 1, language, f"quizzes/{slug}.md"))
    return time.process_time() - begun


def build(site: Path) -> float:
    """CPU seconds of a whole build of a site by MkDocs."""
    before = os.times()
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "-d", "site"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(command, cwd=site, check=True, env=environment, stdout=subprocess.DEVNULL)
    after = os.times()
    drawn = sum(page.read_text("utf-8").count('type="radio"') for page in site.rglob("*.html"))
    print(f"    {site.name}: {drawn} options drawn")
    return (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )


def write_site(
    root: Path, quizzes: int, page: Callable[[int, str], str], plugins: str, hooks: str = ""
) -> None:
    """Write a site of one page for each quiz, in both languages."""
    for language in WORDS:
        folder = root / "docs" / language / "quizzes"
        folder.mkdir(parents=True)
        (folder.parent / "index.md").write_text("# Index\n", encoding="utf-8")
        for number in range(quizzes):
            text = f"# Quiz {number}\n\n{page(number, language)}"
            (folder / f"q{number}.md").write_text(text, encoding="utf-8")
    config = CONFIG.format(hooks=hooks, plugins=plugins)
    (root / "mkdocs.yml").write_text(config, encoding="utf-8")


def write_dabt(root: Path, quizzes: int) -> None:
    """Write the site whose quizzes are ours."""
    hook = str(ROOT / "hooks" / "site_course.py")
    write_site(root, quizzes, lambda number, language: f"::: quiz q{number}\n", "", hook)
    data = root / "docs" / "_data"
    (data / "quizzes").mkdir(parents=True)
    for name in ("languages.yml", "ui.quiz.yml"):
        (data / name).write_bytes((ROOT / "docs" / "_data" / name).read_bytes())
    for number in range(quizzes):
        path = data / "quizzes" / f"q{number}.yml"
        path.write_text(dabt_quiz(number), encoding="utf-8")


def dabt_quiz(number: int) -> str:
    """One of our quiz files."""
    lines = [
        f"quiz: q{number}",
        f"title: {{fr: Quiz {number}, ar: اختبار {number}}}",
        "bands: [{from: 0%, label: {fr: Bien, ar: جيد}}]",
        "questions:",
    ]
    for n in range(number * PER_PAGE, (number + 1) * PER_PAGE):
        lines += [f"  - id: case-{n}", "    ask:", *both(0, 6, n), "    options:"]
        for option in range(4):
            mark = "wrong" if option else "right"
            texts = ", ".join(f"{code}: {words[1][option]}" for code, words in WORDS.items())
            lines.append(f"      - {mark}: {{{texts}}}")
            lines += ["        why:", *both(2, 10, n)] if option else []
        lines += ["    hint:", *both(2, 6, n), "    explain:", *both(3, 6, n)]
    return "\n".join(lines) + "\n"


def both(part: int, indent: int, n: int) -> list[str]:
    """The lines of a text in both languages."""
    return [f'{" " * indent}{code}: "{words[part].format(n=n)}"' for code, words in WORDS.items()]


def peer_page(number: int, language: str) -> str:
    """The same questions in the syntax of mkdocs-quiz."""
    ask, options, why, explain = WORDS[language]
    blocks = []
    for n in range(number * PER_PAGE, (number + 1) * PER_PAGE):
        lines = [ask.format(n=n)]
        for option, text in enumerate(options):
            lines += [f"- [ ] {text}", f"> {why}"] if option else [f"- [x] {text}"]
        blocks.append("\n".join(["<quiz>", *lines, "", explain.format(n=n), "</quiz>"]))
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    main()
