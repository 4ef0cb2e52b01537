"""The notebooks of the course, from its own pages: structure, languages, what is published."""

import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from dabt.languages import load_languages
from dabt.notebooks.archive import pack
from dabt.notebooks.build import Wanted, make_notebook
from dabt.notebooks.choice import check_choices, read_choices
from dabt.notebooks.offer import hosts, render_offer
from dabt.pages import Page
from dabt.ui import load_ui

ROOT = Path(__file__).resolve().parents[2]
DATA, EXAMPLES = ROOT / "docs/_data", ROOT / "examples"
LANGUAGES = load_languages(DATA / "languages.yml")
UI = load_ui(DATA, LANGUAGES)
CHOICES, PROBLEMS = read_choices(DATA, EXAMPLES)


def notebook(slug: str, code: str, site: str = "") -> dict:
    page = (ROOT / f"docs/{code}/{slug}.md").read_text("utf-8")
    tree = f"{site}{'' if code == 'ar' else f'{code}/'}" if site else ""
    return json.loads(make_notebook(page, Wanted(CHOICES[slug], code, EXAMPLES, site, tree), UI))


def cells(found: dict, kind: str) -> list[str]:
    return ["".join(one["source"]) for one in found["cells"] if one["cell_type"] == kind]


def test_the_list_has_no_problem() -> None:
    assert PROBLEMS == () and len(CHOICES) >= 12


@pytest.mark.parametrize("slug", sorted(CHOICES))
def test_a_notebook_is_the_whole_program_with_the_same_code_in_each_language(slug: str) -> None:
    found = {code: notebook(slug, code) for code in ("ar", "fr")}
    codes = cells(found["ar"], "code")
    assert codes == cells(found["fr"], "code")
    source = (EXAMPLES / slug / CHOICES[slug].program).read_text("utf-8")
    whole = "\n".join(codes)
    for line in source.partition('"""\n')[2].partition("if __name__ ==")[0].split("\n"):
        line = re.sub(r"# \((\d+)\)!", r"# (\1)", line)
        assert "8<" in line or "__future__" in line or line in whole, line


@pytest.mark.parametrize("slug", sorted(CHOICES))
def test_the_explanations_are_the_chapter_s_and_nothing_of_the_site_stays(slug: str) -> None:
    for code in ("ar", "fr"):
        found = notebook(slug, code)
        texts = cells(found, "markdown")
        assert sum(map(len, texts)) > 2500
        page = (ROOT / f"docs/{code}/{slug}.md").read_text("utf-8")
        assert f"# {re.search(r'^# (.*?) {', page, re.MULTILINE)[1]}\n" in texts[0]
        prose = re.sub(r"^```.*?^```$", "", "\n".join(texts), flags=re.DOTALL | re.MULTILINE)
        assert not re.search(r"8<|^:::|\[\^|^(!!!|\?\?\?|===)|\{ [.#]", prose, re.MULTILINE)
        ids = [one["id"] for one in found["cells"]]
        assert len(set(ids)) == len(ids)
        assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)


def test_the_first_cells_prepare_any_machine() -> None:
    card, pins, programs = cells(notebook("peft/lora", "fr", "https://c.example/"), "code")[:3]
    assert "nvidia-smi" in card and "fp16" in card and "ON_GPU = False" in card
    requirements = (EXAMPLES / "requirements.txt").read_text("utf-8")
    listed = re.findall(r'"([\w-]+==[\w.]+)"', pins)
    assert "transformers" in pins and len(listed) > 8
    assert all(f"{pin} " in requirements or f"{pin}\n" in requirements for pin in listed)
    assert not [pin for pin in listed if pin.startswith("torch")], "Colab's fits its driver"
    assert "https://c.example/" in programs and "notebooks/examples.zip" in programs
    assert "peft/lora/train.py" in programs


def test_arabic_runs_from_right_to_left_and_code_within_it_from_left_to_right() -> None:
    texts = cells(notebook("peft/lora", "ar"), "markdown")
    assert all(one.startswith(('<div dir="rtl" lang="ar">', "```")) for one in texts)
    assert all(one.count("<div") == one.count("</div>") for one in texts)
    fences = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
    for one in texts:
        for fence in fences.finditer(one):
            before = one[: fence.start()]
            assert before.count("<div") == before.count("</div>"), "a fence is in no div"
    outside = fences.sub("", "\n".join(texts))
    assert "<bdi>`--rank`</bdi>" in outside
    assert "`" not in re.sub(r"<bdi>(`+).*?\1</bdi>", "", outside)
    assert "dir=" not in "".join(cells(notebook("peft/lora", "fr"), "markdown"))


def test_a_chapter_that_shows_a_program_has_a_notebook() -> None:
    page = Page("docs/fr/a/b.md", "fr", "a/b.md", '```\n--8<-- "a/b/train.py:x"\n```\n')
    [problem] = check_choices({}, [page])
    assert (problem.line, problem.code) == (2, "no-notebook")
    [problem] = check_choices({"c/d": CHOICES["peft/lora"]}, [])
    assert problem.code == "notebook-page"


def test_an_unknown_program_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "notebooks.yml").write_text("peft/lora: {program: trian.py}\n")
    _, [problem] = read_choices(tmp_path, EXAMPLES)
    assert (problem.line, problem.code) == (1, "notebook-program")


def test_the_archive_is_what_a_notebook_looks_for_and_always_the_same(tmp_path: Path) -> None:
    (tmp_path / "common/__pycache__").mkdir(parents=True)
    (tmp_path / "common/guard.py").write_text("x = 1\n")
    (tmp_path / "common/__pycache__/guard.pyc").write_bytes(b"0")
    first = pack(tmp_path)
    (tmp_path / "common/guard.py").touch()
    assert pack(tmp_path) == first
    assert zipfile.ZipFile(io.BytesIO(first)).namelist() == ["examples/common/guard.py"]


def test_other_hosts_are_offered_where_an_address_is_known() -> None:
    file = "notebooks/peft/lora.fr.ipynb"
    address = "https://github.com/o/r/blob/notebooks"
    assert hosts("", file) == {} == hosts("https://elsewhere.example/", file)
    found = hosts(f"{address}/", file)
    assert found["Colab"] == f"https://colab.research.google.com/github/o/r/blob/notebooks/{file}"
    assert found["Kaggle"] == f"https://kaggle.com/kernels/welcome?src={address}/{file}"
    line = render_offer(file, 44_502, "fr/peft/lora/", address, "fr", UI)
    assert 'href="../../../notebooks/peft/lora.fr.ipynb" download' in line
    assert "45" in line and line.count("<a ") == 3
    assert render_offer(file, 44_502, "peft/lora/", "", "ar", UI).count("<a ") == 1
