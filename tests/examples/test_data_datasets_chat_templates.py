"""The programs of chapter data/datasets-chat-templates: what they keep, remove, hold out, lose."""

import contextlib
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import trl
from transformers import AutoTokenizer
from trl import apply_chat_template, is_conversational

from small import path_or_none
from tiny import BASE

sys.path.insert(
    0, str(Path(__file__).resolve().parents[2] / "examples/data/datasets-chat-templates")
)
import arabic
import prepare

FOLDER = Path(prepare.__file__).parent
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))
ARABIC = json.loads((FOLDER / "arabic.json").read_text("utf-8"))
SMALL = "SmolLM2-135M-Instruct"
needs_small = pytest.mark.skipif(
    not path_or_none(), reason=f"{SMALL} is not on this computer: python examples/small/fetch.py"
)


def read(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def recorded(module, name: str, folder: Path, *flags: str) -> dict:
    """Run a program with --record in another folder, and read what it left there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "HERE", folder)
        module.main(["--tiny", "--record", *flags])
    texts = {path.name: path.read_text("utf-8") for path in (folder / "outputs").iterdir()}
    return {"record": json.loads((folder / name).read_text("utf-8")), "texts": texts}


def refusal(*flags: str, program=prepare) -> str:
    with pytest.raises(SystemExit) as stopped:
        program.main(["--tiny", *flags])
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)
    return stopped.value.code


def row(instruction: str, response: str = "Yes, it is so.", context: str = "") -> dict:
    return {"instruction": instruction, "context": context, "response": response, "number": 1}


def cleaned(*rows: dict, **changes) -> list[tuple[int, str]]:
    """Clean some rows and give the numbers and reasons of those removed."""
    settings = prepare.Settings(**({"max_tokens": 256} | changes))
    numbered = [one | {"number": number} for number, one in enumerate(rows, 1)]
    _, removed = prepare.clean(numbered, AutoTokenizer.from_pretrained(BASE), settings)
    return [(removal.row, removal.reason) for removal in removed]


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(BASE)


@pytest.fixture(scope="module")
def again(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("again")
    return recorded(prepare, "record.json", folder, "--output", str(folder / "rows")) | {
        "rows": {name: read(folder / "rows" / f"{name}.jsonl") for name in ("train", "validation")},
        "removed": read(folder / "rows" / "removed.jsonl"),
    }


@pytest.fixture(scope="module")
def languages(tmp_path_factory) -> dict:
    return recorded(arabic, "arabic.json", tmp_path_factory.mktemp("arabic"))


# The records


def test_the_record_is_what_the_program_does(again) -> None:
    """Nothing here is a measure of time or of floating point: it is equal, to the last digit."""
    new = again["record"]
    for name in set(RECORD) - {"versions", "templates"}:
        assert new[name] == RECORD[name], name
    for model in new["templates"]:
        assert new["templates"][model] == RECORD["templates"][model]
    assert set(RECORD["templates"]) == {"tiny base", SMALL}


def test_the_texts_on_the_page_come_from_this_run(again, languages) -> None:
    shown = {path.name: path.read_text("utf-8") for path in (FOLDER / "outputs").iterdir()}
    made = again["texts"] | languages["texts"]
    assert set(shown) == set(made)
    whole = SMALL in again["record"]["templates"] and SMALL in languages["record"]["savings"]
    with_small = (
        set() if whole else {"template.txt", "fertility.txt", "savings.txt", "harmless.txt"}
    )
    for name in set(made) - with_small:
        assert shown[name] == made[name], name


def test_the_measures_of_arabic_are_what_the_program_does(languages) -> None:
    new = languages["record"]
    assert new["losses"] == ARABIC["losses"]
    here = {entry["tokenizer"] for entry in new["fertility"]}
    assert new["fertility"] == [e for e in ARABIC["fertility"] if e["tokenizer"] in here]
    assert new["savings"] == {name: ARABIC["savings"][name] for name in here}
    assert new["harmless"] == {name: ARABIC["harmless"][name] for name in here}
    assert set(ARABIC["savings"]) == {"tiny base", SMALL}


def test_the_program_as_a_reader_starts_it(tmp_path: Path) -> None:
    command = [sys.executable, FOLDER / "prepare.py", "--tiny", "--output", tmp_path / "rows"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "48 of 63 rows are kept" in done.stdout
    command = [sys.executable, FOLDER / "prepare.py", "--tiny", "--data", tmp_path / "none.jsonl"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and re.search(r"error: [^\n]+\n  mend: [^\n]+\n\Z", done.stderr)


# Cleaning


def test_every_fault_of_the_file_is_found_and_nothing_else(again) -> None:
    raw = read(prepare.RAW)
    kinds = Counter(entry["reason"] for entry in again["removed"])
    assert kinds == {"empty": 3, "language": 3, "too long": 2, "copy": 3, "near copy": 4}
    gone = {entry["row"] for entry in again["removed"]}
    kept = [one for number, one in enumerate(raw, 1) if number not in gone]
    assert Counter(Counter(one["topic"] for one in kept).values()) == {3: 16}
    languages = Counter(prepare.guess_language(prepare.request(one)) for one in kept)
    assert languages == {"ar": 16, "fr": 16, "en": 16}


def test_rows_are_named_by_their_number_in_the_file(again) -> None:
    raw = read(prepare.RAW)
    for entry in again["removed"]:
        faulty = raw[entry["row"] - 1]
        if entry["reason"] == "empty":
            assert not faulty[entry["detail"].removeprefix("no ")].strip()
        if copied := re.match(r"of row (\d+)", entry["detail"]):
            first = raw[int(copied[1]) - 1]
            assert int(copied[1]) < entry["row"]
            assert prepare.fold(prepare.request(first)) == prepare.fold(prepare.request(faulty))
            assert (first == faulty) == (entry["reason"] == "copy") or "rejected" in first


def test_each_reason_to_remove_a_row() -> None:
    good = row("Is water wet?")
    assert cleaned(good) == []
    assert cleaned(good, row("Is it?", " \n"), row(" ")) == [(2, "empty"), (3, "empty")]
    assert cleaned(row("Is it?", "ja, das ist nicht so und sie ist es auf der")) == [
        (1, "language")
    ]
    assert cleaned(row("Is the sky blue?", "نعم، إنها زرقاء")) == [(1, "language")]
    assert cleaned(row("ما لون السماء؟", "زرقاء"), languages="fr,en") == [(1, "language")]
    assert cleaned(row("Count", "1 2 3 " * 100), max_tokens=64) == [(1, "too long")]
    assert cleaned(good, dict(good)) == [(2, "copy")]
    assert cleaned(good, row("IS WATER wet ?!")) == [(2, "near copy")]


def test_what_is_not_a_reason() -> None:
    assert cleaned(row("12 + 3 ?", "15"), row("13 + 3 ?", "16")) == [], "no language, but numbers"
    assert cleaned(row("Is the sea salty?", "No")) == [], "one word is no evidence of Spanish"
    assert cleaned(row("؟", "نعم"), row("!", "نعم")) == [], "signs are not copies of each other"
    same = [row("When?", "At ten.", context=context) for context in ("It opens at 10.", "At 11.")]
    assert cleaned(*same) == [], "another context is another request"


def test_a_near_copy_with_another_answer_is_told_apart(tokenizer) -> None:
    rows = [row("Is it?", "Yes"), row("is it", "yes!") | {"number": 2}]
    rows.append(row("is it ?", "No") | {"number": 3})
    _, removed = prepare.clean(rows, tokenizer, prepare.TINY)
    assert [removal.detail for removal in removed] == ["of row 1", "of row 1, with another answer"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("الطَّقس والمُناخ ؟", "الطقس والمناخ؟"),
        ("أين إلى آخر", "اين الي اخر"),
        ("مكتبــة", "مكتبه"),
        ("Où est l'École ?", "ou est l ecole"),
        ("\ufefb", "لا"),
    ],
)
def test_copies_fold_to_the_same(one: str, other: str) -> None:
    assert prepare.fold(one) == prepare.fold(other)


# The split


def test_no_topic_is_on_both_sides(again) -> None:
    kept = [one for one in read(prepare.RAW) if one["response"].strip()]
    topics = {prepare.request(one): one["topic"] for one in kept}
    held_out = {topics[one["messages"][0]["content"]] for one in again["rows"]["validation"]}
    originals = {one["messages"][0]["content"] for one in again["rows"]["train"]}
    trained = {topics[text] for text in originals if text in topics}
    assert held_out and trained and not held_out & trained


def test_the_split_does_not_depend_on_the_other_rows(tokenizer) -> None:
    rows = prepare.read_rows(str(prepare.RAW))
    train, held_out = prepare.split(rows, 0.25)
    some_train, some_held_out = prepare.split(rows[::2], 0.25)
    assert [one for one in train if one in rows[::2]] == some_train
    assert [one for one in held_out if one in rows[::2]] == some_held_out


def test_rewordings_are_added_to_the_training_rows_alone(again) -> None:
    counts = RECORD["rows"]
    assert counts["train"] == 3 * (counts["kept"] - counts["validation"])
    texts = [one["messages"][0]["content"] for one in again["rows"]["train"]]
    assert sum(text.startswith(("من فضلك", "S'il te plaît", "Please")) for text in texts) > 9
    held_out = [one["messages"][0]["content"] for one in again["rows"]["validation"]]
    assert not any(text.startswith(("من فضلك", "S'il te plaît", "Please")) for text in held_out)


def test_what_leaks_from_each_split() -> None:
    first, second, third = RECORD["splits"]
    assert first["reworded"] > 0.9 * first["rows"] and first["topic"] == first["rows"]
    assert second["reworded"] == 0 and second["topic"] > 0.9 * second["rows"]
    assert third["reworded"] == third["topic"] == 0 and third["rows"] > 10


def test_a_leak_is_found_by_its_words() -> None:
    known = row("Why does bread dough rise?", "Because the yeast gives off a gas.")
    copied = known | {"instruction": "Please: why does BREAD dough rise?", "topic": "copied"}
    other = row("Why is the sea salty?", "Rivers carry salt to it.")
    found = prepare.find_leaks([known], [copied, other])
    assert found == {"rows": 2, "reworded": 1, "topic": 0}


def test_rows_that_share_a_context_share_a_topic() -> None:
    one = row("When?", context="It opens at ten.")
    other = row("Where?", context="it opens at ten")
    assert prepare.topic(one) == prepare.topic(other) != prepare.topic(row("When?"))


# Shapes and templates


@pytest.mark.parametrize("form", ["text", "pair", "conversation", "preference"])
def test_trl_reads_each_shape(form: str, tokenizer, tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    rows = [one for one in read(prepare.RAW) if one.get("rejected")]
    source.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in rows))
    flags = ["--tiny", "--form", form, "--data", str(source), "--output", str(tmp_path / "out")]
    prepare.main([*flags, "--validation", "0.6"])
    written = read(tmp_path / "out/train.jsonl") + read(tmp_path / "out/validation.jsonl")
    assert len(written) >= len(rows)
    for one in written:
        assert is_conversational(one) == (form in ("conversation", "preference"))
        if form == "conversation":
            text = apply_chat_template(one, tokenizer)["text"]
            assert text.startswith("<s><|user|>") and text.endswith("</s>")
        if form == "preference":
            text = apply_chat_template(one, tokenizer)
            assert text["prompt"].endswith("<|assistant|>") and text["chosen"] != text["rejected"]


def test_the_context_is_part_of_the_request(again) -> None:
    asked = [one["messages"][0]["content"] for one in again["rows"]["train"]]
    assert any("14, 3, 27, 8" in text for text in asked)


def test_a_template_taken_apart(tokenizer) -> None:
    assert prepare.take_apart(tokenizer) == {
        "before": "<s><|user|>",
        "between": "<|assistant|>",
        "after": "</s>",
        "generation_prompt": "<|assistant|>",
        "answers_follow_the_prompt": True,
        "marks_answers": True,
    }


@needs_small
def test_a_template_that_adds_words_of_its_own() -> None:
    parts = prepare.take_apart(AutoTokenizer.from_pretrained(path_or_none()))
    assert "You are a helpful AI assistant named SmolLM" in parts["before"]
    assert parts["after"] == "<|im_end|>\n" and not parts["marks_answers"]


@pytest.mark.parametrize("name", ["chatml", "plain"])
def test_the_templates_that_the_program_offers(name: str, tokenizer) -> None:
    one = AutoTokenizer.from_pretrained(BASE)
    one.chat_template = prepare.TEMPLATES[name]
    parts = prepare.take_apart(one)
    assert parts["answers_follow_the_prompt"] and parts["marks_answers"]
    answers = "".join(token for token, mark in prepare.find_answers(one, prepare.CHAT) if mark)
    end = {"chatml": "<|im_end|>", "plain": "</s>"}[name]
    assert answers == f"Maroc{end}Norvège{end}"


def test_a_template_without_markers_shows_no_answer(tokenizer) -> None:
    one = AutoTokenizer.from_pretrained(BASE)
    one.chat_template = re.sub(r"{% (end)?generation %}", "", one.chat_template)
    assert not any(mark for _, mark in prepare.find_answers(one, prepare.CHAT))


def test_bos_is_written_twice_by_a_tokenizer_that_adds_it(tokenizer) -> None:
    always = prepare.add_bos_always(str(BASE))
    assert list(prepare.count_bos(tokenizer, prepare.CHAT).values()) == [1, 1, 1]
    assert list(prepare.count_bos(always, prepare.CHAT).values()) == [2, 1, 1]


def base_with(folder: Path, template: str | None) -> str:
    shutil.copytree(BASE, folder)
    file = folder / "chat_template.jinja"
    file.unlink() if template is None else file.write_text(template)
    return str(folder)


def test_a_base_model_has_no_template_until_one_is_chosen(tmp_path: Path) -> None:
    model = base_with(tmp_path / "base", None)
    text = refusal("--model", model)
    assert "has no chat template: it is a base model" in text and "chatml, plain" in text
    assert prepare.load_tokenizer(prepare.Settings(model=model, template="plain")).chat_template
    file = tmp_path / "mine.jinja"
    file.write_text(prepare.TEMPLATES["chatml"])
    chosen = prepare.load_tokenizer(prepare.Settings(model=model, template=str(file)))
    assert chosen.chat_template == prepare.TEMPLATES["chatml"]


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{% for m in messages %}{{ m.content }}", "the chat template fails: Unexpected end"),
        ("{{ raise_exception('no system role') }}", "the chat template fails: no system role"),
        ("{{ messages[0].content }}", "the chat template loses a message"),
    ],
)
def test_a_broken_template(template: str, said: str, tmp_path: Path) -> None:
    assert said in refusal("--model", base_with(tmp_path / "base", template))


# Refusals


def test_a_row_without_a_column_is_named_by_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(f"{json.dumps(row('a'))}\n{json.dumps({'instruction': 'a', 'context': ''})}\n")
    assert f"{file}:2: no text in column 'response'" in refusal("--data", str(file))
    file.write_text(f"{json.dumps(row('a') | {'rejected': 'b'})}\n{json.dumps(row('c'))}\n")
    text = refusal("--data", str(file), "--form", "preference")
    assert "mine.jsonl:2: no text in column 'rejected'" in text and "1 lack one" in text


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--template", "vicuna"], "unknown template 'vicuna'"),
        (["--form", "alpaca"], "unknown form 'alpaca'"),
        (["--validation", "1.5"], "--validation is 1.5"),
        (["--languages", "it"], "no row is left"),
        (["--languages", "de"], "0 rows to train on and 1 to hold out"),
        (["--max-tokens", "3"], "no row is left"),
        (["--data", "databricks/databricks-dolly-15k"], "the Hub cannot be reached"),
        (["--model", "Qwen/Qwen2.5-0.5B-Instruct"], "the Hub cannot be reached"),
    ],
)
def test_what_cannot_be_done(flags: list[str], said: str) -> None:
    assert said in refusal(*flags)


def test_texts_that_are_not_parallel(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps(row("What is it?") | {"topic": "it"}))
    assert "has no topic in ar, fr, en" in refusal("--data", str(file), program=arabic)
    file.write_text(json.dumps(row("What is it?")))
    assert ":1: no text in column 'topic'" in refusal("--data", str(file), program=arabic)


# Arabic


def test_the_same_content_is_measured_in_each_language() -> None:
    texts = arabic.read_parallel(prepare.RAW)
    assert [text.count("\n") for text in texts.values()] == [15 + n for n in (0, 0, 0)]
    for language, text in texts.items():
        assert prepare.guess_language(text) == language


def test_words_are_counted_with_their_marks_and_without_signs() -> None:
    assert arabic.count_words("أحضّر الشاي ، بالنعناع ؟") == 3
    assert arabic.count_words("Que faire ?") == 2


def test_english_costs_least_and_arabic_three_times_as_much() -> None:
    found = {(e["tokenizer"], e["language"]): e for e in ARABIC["fertility"]}
    english, there = found[SMALL, "en"], found[SMALL, "ar"]
    assert english["against_english"] == 1 and english["fertility"] < 1.5
    assert there["against_english"] > 2.5 and there["fertility"] > 4
    assert there["tokens"] == there["fertility"] * there["words"]
    assert found["tiny base", "ar"]["against_english"] < 1.2, "a tokenizer trained on Arabic too"


def test_each_pair_is_lost_to_its_own_step_and_to_no_other() -> None:
    for pair in arabic.PAIRS:
        assert pair.first != pair.second and pair.first_means != pair.second_means
        lost = [n for n, step in arabic.STEPS.items() if step(pair.first) == step(pair.second)]
        assert lost == [pair.step]
        assert prepare.fold(pair.first) == prepare.fold(pair.second)
    assert {pair.step for pair in arabic.PAIRS} == set(arabic.STEPS)


# What the pages rely on


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("prepare", "shapes template bos answers fold language clean split leaks"),
        ("arabic", "parallel fertility steps lossy harmless"),
    ],
)
def test_the_markers_of_each_region_count_from_one(program: str, expected: str) -> None:
    text = (FOLDER / f"{program}.py").read_text("utf-8")
    regions = re.findall(r"\[start:([a-z]+)\](.*?)\[end:\1\]", text, re.DOTALL)
    assert [name for name, _ in regions] == expected.split()
    for name, body in regions:
        markers = [int(number) for number in re.findall(r"# \((\d+)\)!", body)]
        assert markers == list(range(1, len(markers) + 1)) and 1 <= len(markers) <= 5, name


# What the page says beside the outputs


def test_a_harmless_step_changes_no_ordinary_text() -> None:
    ordinary = "كتب الطالب مقالًا في 3 صفحات، و\u200cهذه نهايته: «انتهى»."
    for name, (step, sample) in arabic.HARMLESS.items():
        assert step(ordinary) == ordinary, name
        assert step(sample) != sample, name
    assert [step(sample) for step, sample in arabic.HARMLESS.values()] == [
        "سلام",
        "كتاب",
        "سلام",
        "2026",
    ]


def test_a_mark_costs_what_the_page_says() -> None:
    """One token where the vocabulary has it, seven where it is spelt out."""
    marks = {name: one["tokens_of_im_start"] for name, one in RECORD["templates"].items()}
    assert marks == {"tiny base": 7, SMALL: 1}


def test_the_templates_of_trl_are_as_the_page_counts_them(tokenizer) -> None:
    """38 templates for text: 6 answer where their prompt does not lead, 35 mark no answer."""
    own, found = tokenizer.chat_template, []
    for file in sorted((Path(trl.__file__).parent / "chat_templates").glob("*.jinja")):
        if not file.stem.endswith("_training"):
            tokenizer.chat_template = file.read_text("utf-8")
            with contextlib.suppress(SystemExit):  # three are for images
                found.append(prepare.take_apart(tokenizer))
    tokenizer.chat_template = own
    assert len(found) == 38
    assert sum(not one["answers_follow_the_prompt"] for one in found) == 6
    assert sum(not one["marks_answers"] for one in found) == 35
