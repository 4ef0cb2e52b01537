"""The programs of chapter measure/evaluation: intervals, pairs, losses, tasks, a toy judge."""

import copy
import json
import math
import re
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from common import guard
from common.peak import PeakMemory
from common.rows import read
from full.traditional import loop
from full.traditional import train as full
from measure.evaluation import harness, intervals, judge, score
from peft import LoraConfig, get_peft_model
from tiny import BASE, DATA, recall

FOLDER = Path(score.__file__).parent
PAGES = Path(__file__).resolve().parents[2] / "docs"


def recorded(name: str) -> dict:
    return json.loads((FOLDER / name).read_text("utf-8"))


def record_again(module, folder: Path, name: str) -> dict:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "HERE", folder)
        module.main(["--tiny", "--record"])
    texts = {path.name: path.read_text("utf-8") for path in (folder / "outputs").iterdir()}
    return json.loads((folder / name).read_text("utf-8")) | {"texts": texts}


@pytest.fixture(scope="module")
def again(tmp_path_factory) -> dict:
    return record_again(score, tmp_path_factory.mktemp("score"), "record.json")


@pytest.fixture(scope="module")
def base() -> tuple:
    return full.load(score.TINY)


@pytest.fixture(scope="module")
def parts() -> list[list[dict]]:
    return [list(part) for part in read(str(DATA))]


# Intervals


@pytest.mark.parametrize(
    ("right", "rows", "low", "high"),
    [
        (60, 100, 0.5020, 0.6906),
        (5, 10, 0.2366, 0.7634),
        (0, 120, 0.0, 0.0310),
        (40, 40, 0.9124, 1),
    ],
)
def test_wilson_intervals_are_those_of_the_tables(right, rows, low, high) -> None:
    assert intervals.wilson(right, rows) == (
        pytest.approx(low, abs=1e-4),
        pytest.approx(high, abs=1e-4),
    )


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
def test_wilson_holds_the_truth_about_95_times_in_100(share: float) -> None:
    """Exact: the chance of each count, where its interval holds the share."""
    rows, covered = 120, 0.0
    for right in range(rows + 1):
        low, high = intervals.wilson(right, rows)
        chance = math.comb(rows, right) * share**right * (1 - share) ** (rows - right)
        covered += chance * (low <= share <= high)
    assert 0.93 < covered < 0.98


def test_the_bootstrap_holds_the_truth_about_95_times_in_100() -> None:
    """Ratios of a total to a count, as of losses and tokens; 300 samples of 80 rows."""
    chance, covered = torch.Generator().manual_seed(0), 0
    for _ in range(300):
        tokens = torch.randint(5, 40, (80,), generator=chance).double()
        losses = tokens * (1.5 + torch.randn(80, generator=chance, dtype=torch.float64))
        low, high = intervals.bootstrap(losses.tolist(), tokens.tolist())
        covered += low <= 1.5 <= high
    assert 0.90 < covered / 300 < 0.99


def test_mcnemar_gives_the_known_chances() -> None:
    assert intervals.mcnemar(0, 6) == 2 / 64
    assert intervals.mcnemar(5, 15) == pytest.approx(0.04139, abs=1e-5)
    assert intervals.mcnemar(15, 5) == intervals.mcnemar(5, 15)
    assert intervals.mcnemar(0, 0) == intervals.mcnemar(7, 7) == 1.0


def draw_answers(chance, rows: int, disagree: float, difference: float) -> tuple[list, list]:
    """Draw two models' answers: how often they disagree, and by how much the second is better."""
    kinds = torch.rand(rows, generator=chance).tolist()
    better, worse = (disagree + difference) / 2, (disagree - difference) / 2
    first = [not kind < better for kind in kinds]
    second = [not better <= kind < better + worse for kind in kinds]
    return first, second


def seen(rows: int, disagree: float, difference: float) -> float:
    chance = torch.Generator().manual_seed(1)
    found = 0
    for _ in range(400):
        pairs = zip(*draw_answers(chance, rows, disagree, difference), strict=True)
        counts = [(b and not a, a and not b) for a, b in pairs]
        found += intervals.mcnemar(*map(sum, zip(*counts, strict=True))) < 0.05
    return found / 400


def test_a_planted_difference_is_found_and_none_is_not() -> None:
    chance = torch.Generator().manual_seed(2)
    planted = intervals.compare(*draw_answers(chance, 400, 0.3, 0.15))
    assert planted["p"] < 0.001
    assert planted["low"] > 0
    none = intervals.compare(*draw_answers(chance, 400, 0.3, 0.0))
    assert none["low"] < 0 < none["high"]
    assert seen(200, 0.3, 0.0) <= 0.05


def test_the_rows_that_it_takes_are_enough_four_times_in_five() -> None:
    """The exact test is a little careful: it sees somewhat less than the formula promises."""
    needed = intervals.rows_paired(0.25, 0.10)
    assert 0.70 < seen(needed, 0.25, 0.10) < 0.87
    assert seen(needed // 4, 0.25, 0.10) < 0.4
    assert intervals.rows_apart(0.6, 0.05) == 1468
    assert needed < intervals.rows_apart(0.6, 0.10)


def test_the_command_for_two_numbers(capsys) -> None:
    intervals.main(["96", "120"])
    intervals.main(["5", "15", "--paired"])
    assert capsys.readouterr().out == "80.0%, 95 %: 72.0% to 86.2%\np = 0.0414\n"


# Losses


def test_the_mean_loss_counts_each_token_once(base, parts) -> None:
    """It is the model's own loss of all rows at once; the size of the batches changes nothing."""
    tokenizer, model = base
    rows = [full.encode(row, tokenizer) for row in parts[1][:24]]
    texts = [row["response"] for row in parts[1][:24]]
    with torch.no_grad():
        whole = model(**loop.collate(rows, tokenizer.pad_token_id)).loss.item()
    for size in (5, 24):
        found = score.losses_of(score.read_all(model, rows, tokenizer.pad_token_id, size), texts)
        assert found["loss"] == pytest.approx(whole, rel=1e-5)
        assert found["perplexity"] == math.exp(found["loss"])
        assert found["low"] < found["loss"] < found["high"]
    tokens = sum(label != -100 for row in rows for label in row["labels"])
    bits = whole * tokens / math.log(2)
    size = len("".join(texts).encode())
    assert found["bits_per_byte"] == pytest.approx(bits / size, rel=1e-5)


def test_sentences_are_counted_as_the_course_counts_capitals(base) -> None:
    tokenizer, model = base
    found = score.read_all(model, score.capitals(tokenizer)["sentence"], tokenizer.pad_token_id)
    assert sum(one.right for one in found) / 120 == recall(model, tokenizer) == 1.0


def test_slipped_in_rows_are_found(parts) -> None:
    before, after = score.find_contamination(*parts).values()
    assert before["topic"] == 0
    assert after["topic"] == score.PLANTED
    assert before["reworded"] < after["reworded"]


# The record


def test_the_record_is_what_the_program_does(again) -> None:
    """Scores within their own intervals: a training differs a little from machine to machine."""
    old, new = recorded("record.json"), again
    assert list(old) == [key for key in new if key != "texts"]
    for one, other in zip(new["scores"], old["scores"], strict=True):
        assert (one["id"], one["n"]) == (other["id"], other["n"])
        assert other["low"] <= one["score"] <= other["high"], one["id"]
    for one, other in zip(new["losses"], old["losses"], strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=0.2)
    assert new["contamination"] == old["contamination"]
    assert new["loss_after"] < 0.05 < 1 < new["loss_before"]
    assert new["peak_memory_bytes"] == pytest.approx(new["predicted_memory_bytes"], rel=0.1)


def test_the_pages_texts_are_there(again) -> None:
    shown = {path.name for path in (FOLDER / "outputs").iterdir()}
    assert shown == set(again["texts"]) | {"harness.txt", "judge.txt"}
    assert again["texts"]["contamination.txt"] == (FOLDER / "outputs/contamination.txt").read_text(
        "utf-8"
    )


def test_more_training_is_seen_as_better_on_the_same_rows(again) -> None:
    pair = again["pair"]
    assert pair["difference"] > 0
    assert pair["p"] < 0.01
    assert pair["low"] > 0


def test_every_language_has_its_score(again) -> None:
    counts = {row["id"]: row["n"] for row in again["scores"]}
    for language in score.LANGUAGES:
        assert counts[f"exact-tuned-{language}"] == 40


def test_capitals_asked_as_questions_are_lost_first(again) -> None:
    """What is left of a skill depends on how it is asked for."""
    scores = {row["id"]: row["score"] for row in again["scores"]}
    assert scores["question-base"] == scores["sentence-base"] == 1.0
    assert scores["question-tuned"] < scores["sentence-tuned"] - 0.3


# The harness


def test_the_committed_questions_are_those_that_are_written(tmp_path: Path) -> None:
    harness.write_tasks(tmp_path)
    for language in harness.LANGUAGES:
        name = f"capitals_{language}.jsonl"
        assert (tmp_path / name).read_text("utf-8") == (harness.TASKS / name).read_text("utf-8")


def test_the_harness_counts_as_we_do(base) -> None:
    """For a model that knows the capitals, and for one with weights drawn at random."""
    tokenizer, model = base
    torch.manual_seed(0)
    stranger = AutoModelForCausalLM.from_config(model.config).eval()
    for one in (model.eval(), stranger):
        found = harness.evaluate(one, tokenizer)
        for language in harness.LANGUAGES:
            rows = harness.questions(language)
            own = harness.count_right(one, tokenizer, rows)
            assert found[f"capitals_{language}"] == (own, len(rows))
    assert sum(right for right, _ in found.values()) < 60


@pytest.mark.parametrize("language", ["ar", "fr"])
def test_the_harness_has_the_tasks_that_a_page_names(language: str) -> None:
    """In the version of the requirements, which the page names too."""
    version = re.search(r"lm_eval==(\S+)", (FOLDER / "requirements.txt").read_text("utf-8"))[1]
    page = PAGES / language / "measure/evaluation.md"
    line = next(one for one in page.read_text("utf-8").splitlines() if f" {version} " in one)
    named = set(re.findall(r"`([a-z]\w+)`", line))
    command = re.search(r"--tasks (\S+)", page.read_text("utf-8"))[1]
    wanted = named | set(command.split(","))
    assert len(named) > 8
    assert wanted <= set(harness.TaskManager(include_path=str(harness.TASKS)).all_tasks)


def test_the_harness_record_holds_both_ways_of_asking() -> None:
    scores = {row["id"]: row for row in recorded("harness.json")["scores"]}
    for language in harness.LANGUAGES:
        task = f"capitals_{language}"
        assert scores[f"base-text-{task}"]["score"] == 1.0
        assert scores[f"base-chat-{task}"]["score"] < 0.9
    for row in scores.values():
        right = round(row["score"] * row["n"])
        assert (row["low"], row["high"]) == intervals.wilson(right, row["n"])


# The judge


def test_the_toy_judge_prefers_a_place_and_a_length(tmp_path: Path) -> None:
    new = record_again(judge, tmp_path, "judge.json")
    old = recorded("judge.json")
    assert (new["order"], new["length"]) == (old["order"], old["length"])
    order = new["order"]
    assert order["first_twice"] + order["second_twice"] + order["kept"] == order["pairs"] == 120
    assert order["first_twice"] > 10
    assert new["length"]["twice_by_sum"] == 0
    assert new["length"]["twice_by_mean"] > 100


# Commands


@pytest.mark.parametrize(
    ("module", "flags", "message"),
    [
        (score, [], "one trained model is needed"),
        (score, ["--tuned", "a", "--adapter", "b"], "one trained model is needed"),
        (harness, [], "only the tiny base is asked here"),
        (judge, [], "the judge is a toy"),
    ],
)
def test_a_wrong_command_says_what_to_do(module, flags: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        module.main(flags)
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)
    assert message in stopped.value.code


def test_the_program_as_a_reader_starts_it() -> None:
    done = subprocess.run(
        [sys.executable, FOLDER / "intervals.py", "96", "120"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "80.0%, 95 %: 72.0% to 86.2%\n")


def test_a_model_and_an_adapter_are_read_after_their_base(base, parts, tmp_path: Path) -> None:
    """An adapter that has learnt nothing answers as the base does."""
    tokenizer, model = base
    adapter = LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM")
    get_peft_model(copy.deepcopy(model), adapter).save_pretrained(tmp_path)
    rows = [full.encode(row, tokenizer) for row in parts[1][:4]]
    card = guard.find_card(tiny=True)
    for tuned, folder in ((str(BASE), None), (None, str(tmp_path))):
        found = score.read_pair(score.TINY, tuned, folder, card, rows, 0)
        assert list(found) == ["base", "tuned"]
        assert found["base"] == found["tuned"]


def test_the_base_has_left_the_memory_when_the_trained_model_comes(parts, monkeypatch) -> None:
    read, loaded, alive = score.read_all, [], []

    def load(*arguments, own=score.load):
        alive.append(sum(one() is not None for one in loaded))
        model = own(*arguments)
        loaded.append(weakref.ref(model))
        return model

    monkeypatch.setattr(score, "load", load)
    monkeypatch.setattr(score, "read_all", lambda model, *_: read(model, [], 0))
    score.read_pair(score.TINY, str(BASE), None, guard.find_card(tiny=True), [], 0)
    assert alive == [0, 0]


@pytest.mark.parametrize(("name", "parameters"), [("Qwen2.5-0.5B", 494e6), ("Qwen2.5-7B", 7.616e9)])
def test_the_memory_in_the_docstring(name: str, parameters: float) -> None:
    """Both have 152 thousand tokens, of which the larger one pads its table a little more."""
    vocabulary = {"Qwen2.5-0.5B": 151_936, "Qwen2.5-7B": 152_064}[name]
    needed = (2 * parameters + 12 * vocabulary * 4 * 512) / 1e9
    told = f"{needed:.2g} GB for {name}"
    assert told in " ".join(score.__doc__.split())


def test_reading_takes_no_more_than_the_docstring_says(base, parts) -> None:
    """Of the logits and their copies, counted where they are: 12 B x vocabulary a token at most."""
    tokenizer, model = base
    rows = [full.encode(row, tokenizer) for row in parts[1][:4]]
    tokens = 4 * max(len(row["input_ids"]) for row in rows)
    half = copy.deepcopy(model).to(torch.bfloat16)
    with PeakMemory() as memory:
        score.read_all(half, rows, tokenizer.pad_token_id, 4)
    logits = model.config.vocab_size * tokens
    assert 8 * logits < memory.peak < 14 * logits


def test_without_the_harness_its_requirements_are_named() -> None:
    code = "import sys; sys.modules['lm_eval'] = None; sys.argv = ['harness.py'];"
    code += f"import runpy; runpy.run_path({str(FOLDER / 'harness.py')!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+\n", done.stderr)
