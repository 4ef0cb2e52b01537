"""The MkDocs adapter, in real builds of two languages by mkdocs-static-i18n."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dabt.sitecheck.document import Document, read
from tests.quiz.small_course import write_course

HOOKS = Path(__file__).parents[2] / "hooks"
CONFIG = """\
site_name: essai
theme: {{name: material, language: ar, font: false}}
exclude_docs: _data/
hooks: [{hooks}/site_course.py, uses.py]
markdown_extensions:
  - attr_list
  - pymdownx.superfences
  - pymdownx.tabbed: {{alternate_style: true}}
plugins:
  - search
  - i18n:
      docs_structure: folder
      reconfigure_search: false
      fallback_to_default: true
      languages:
        - {{locale: fr, name: fr, build: true}}
        - {{locale: ar, name: ar, default: true, build: true}}
"""
# What `page.meta["uses"]` holds when the template would read it.
USES = """\
def on_post_page(output, page, config):
    return output + f"<!-- uses {page.meta.get('uses')} -->"
"""


def write_site(root: Path) -> Path:
    (root / "mkdocs.yml").write_text(CONFIG.format(hooks=HOOKS), encoding="utf-8")
    (root / "uses.py").write_text(USES, encoding="utf-8")
    for language in ("fr", "ar"):
        (root / "docs" / language / "index.md").write_text("# Accueil\n", encoding="utf-8")
    return root


@pytest.fixture
def site(course: Path) -> Path:
    return write_site(course)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site built once, with a quick check on its French home."""
    root = tmp_path_factory.mktemp("built")
    write_course(root)
    text = "# Accueil\n\n```\n::: quiz nowhere\n```\n\n::: quiz lora#steps,trained-weights\n"
    (write_site(root) / "docs" / "fr" / "index.md").write_text(text, encoding="utf-8")
    done = build(root)
    assert done.returncode == 0, done.stderr
    return root


def build(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", *arguments],
        cwd=site,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )


def written(site: Path, path: str) -> str:
    return (site / "site" / path).read_text(encoding="utf-8")


def questions(document: Document) -> list[str]:
    return [element.get("id") for element in document.with_class("dabt-q")]


def review_of(document: Document, place: int) -> tuple[str | None, str]:
    """Return where a question sends its reader, and the name of that section."""
    question = list(document.with_class("dabt-q"))[place]
    line = next(one for one in document.with_class("dabt-q__review") if question.holds(one))
    link = next(one for one in document.all("a") if line.holds(one))
    return link.get("href"), document.text_of(link)


@pytest.mark.parametrize(
    ("path", "language", "title"),
    [("peft/lora/index.html", "ar", "الفكرة"), ("fr/peft/lora/index.html", "fr", "L'idée de LoRA")],
)
def test_quiz_in_its_page(built: Path, path: str, language: str, title: str) -> None:
    html = written(built, path)
    document = read(html)
    (section,) = document.with_class("dabt-quiz")
    assert section.get("lang") == language
    assert document.elements[section.parent].tag == "article", "the quiz is inside a paragraph"
    assert len(questions(document)) == 6
    assert review_of(document, 0) == ("#idea", title)
    assert html.endswith("<!-- uses ['quiz'] -->")


def test_quick_check_and_fence(built: Path) -> None:
    html = written(built, "fr/index.html")
    document = read(html)
    assert questions(document) == ["q-steps", "q-trained-weights"]
    assert review_of(document, 1)[0] == "peft/lora/#idea"
    assert "::: quiz nowhere" in html
    assert written(built, "index.html").endswith("<!-- uses None -->")


def test_answers_stay_out_of_the_search(built: Path) -> None:
    index = written(built, "search/search_index.json")
    assert "Que change LoRA" in index
    assert "Le reste est gelé" not in index
    assert "Mauvaise réponse" not in index


def test_all_errors_at_once_and_the_last_good_site_stays(
    site: Path, spoil: Callable[[str, str], None]
) -> None:
    assert build(site).returncode == 0
    before = {path: path.read_bytes() for path in (site / "site").rglob("*") if path.is_file()}
    spoil("{fr: Combien ?, ar: كم؟}", "{fr: Combien ?}")
    (site / "docs" / "fr" / "index.md").write_text(
        "# Accueil\n\n::: quiz loar\n\n::: quiz lora#rnak\n\n- item\n\n    ::: quiz lora\n"
        '\n=== "tab"\n\n    ::: quiz lora\n\n::: quis lora\n',
        encoding="utf-8",
    )
    done = build(site)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    told = re.findall(r"^docs/\S+: error: .* \[\S+\]$", done.stderr, re.MULTILINE)
    assert told == [
        "docs/_data/quizzes/lora.yml:17:10: error: no text in 'ar' [missing-language]",
        "docs/fr/index.md:3:1: error: no quiz 'loar' [unknown-quiz]",
        "docs/fr/index.md:5:1: error: no question 'rnak' in 'lora' [unknown-question]",
        "docs/fr/index.md:9:5: error: '::: quiz' inside a list, tab, admonition or quotation"
        " [nested-directive]",
        "docs/fr/index.md:13:5: error: '::: quiz' inside a list, tab, admonition or quotation"
        " [nested-directive]",
        "docs/fr/index.md:15:1: error: unknown directive 'quis' [unknown-directive]",
    ]
    assert done.stderr.count("mend: did you mean 'lora'?") == 1
    after = {path: path.read_bytes() for path in (site / "site").rglob("*") if path.is_file()}
    assert after == before


def test_review_target_that_only_the_rendered_page_lacks(site: Path) -> None:
    path = site / "docs" / "ar" / "peft" / "lora.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("## الفكرة { #idea }", "<div>\n## الفكرة { #idea }\n</div>"), encoding="utf-8"
    )
    done = build(site)
    assert done.returncode == 1
    assert done.stderr.count("no section 'idea' in 'peft/lora.md' in 'ar' [review-target]") == 1


def test_quiz_that_no_page_shows_is_one_warning(site: Path) -> None:
    for language in ("fr", "ar"):
        path = site / "docs" / language / "peft" / "lora.md"
        path.write_text("# LoRA\n\n## Idée { #idea }\n", encoding="utf-8")
    done = build(site)
    assert done.returncode == 1
    assert done.stderr.count("no page shows the quiz 'lora' [orphan]") == 1
    assert "1 warnings in strict mode" in done.stdout + done.stderr
