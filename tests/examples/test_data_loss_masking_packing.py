"""The programs of chapter data/loss-masking-packing: labels, padding, packing, by real runs."""

import json
import math
import re
import subprocess
import sys
from itertools import chain, pairwise
from pathlib import Path

import pytest
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments
from trl import SFTConfig, SFTTrainer

from common.rows import COLUMNS
from tiny import BASE, DATA

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples/data/loss-masking-packing"))
import masks
import packing

FOLDER = Path(masks.__file__).parent
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))
PACKING = json.loads((FOLDER / "packing.json").read_text("utf-8"))


def recorded(module, name: str, folder: Path) -> dict:
    """Run a program with --record in another folder, and read what it left there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "HERE", folder)
        module.main(["--tiny", "--record"])
    texts = {path.name: path.read_text("utf-8") for path in (folder / "outputs").iterdir()}
    return {"record": json.loads((folder / name).read_text("utf-8")), "texts": texts}


def refusal(program, *flags: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        program.main(["--tiny", *flags])
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)
    return stopped.value.code


@pytest.fixture(scope="module")
def tokenizer():
    return masks.load_tokenizer(str(BASE))


@pytest.fixture(scope="module")
def chats() -> list[list[dict]]:
    return [masks.conversation(row) for row in masks.read_rows(masks.CAPITALS)]


@pytest.fixture(scope="module")
def setups(chats, tokenizer) -> dict:
    return masks.make_setups(chats, tokenizer, masks.TINY.max_tokens)


@pytest.fixture(scope="module")
def again(tmp_path_factory) -> dict:
    return recorded(masks, "record.json", tmp_path_factory.mktemp("masks"))


@pytest.fixture(scope="module")
def packed_again(tmp_path_factory) -> dict:
    return recorded(packing, "packing.json", tmp_path_factory.mktemp("packing"))


@pytest.fixture(scope="module")
def dialogues(tokenizer) -> Dataset:
    return packing.encode(packing.read_chats(packing.DIALOGUES, 42), tokenizer, None)


@pytest.fixture(scope="module")
def packed(dialogues) -> dict[str, Dataset]:
    return packing.pack(dialogues, 64)


# The records


def test_the_record_is_what_the_program_does(again) -> None:
    """Counts to the last one; losses of a short training within 0.02, endings within 4 of 30."""
    new = again["record"]
    assert list(new) == list(RECORD)
    for name in ("settings", "trl", "counts", "tokens", "turns", "nothing", "dropped"):
        assert new[name] == RECORD[name], name
    for one, other in zip(new["effects"], RECORD["effects"], strict=True):
        assert (one["setup"], one["asked"]) == (other["setup"], other["asked"])
        assert one["loss"] == pytest.approx(other["loss"], abs=0.02)
        assert one["ended"] == pytest.approx(other["ended"], abs=4)
    for side, same in RECORD["sides"].items():
        assert new["sides"][side] == pytest.approx(same, abs=4), side


def test_the_packing_record_is_what_the_program_does(packed_again) -> None:
    new = packed_again["record"]
    assert list(new) == list(PACKING)
    for name in ("settings", "trl", "conversations", "tokens", "counts", "padding"):
        assert new[name] == PACKING[name], name
    for attention, ways in new["attention"].items():
        for way, difference in ways.items():
            old = PACKING["attention"][attention][way]
            assert difference == pytest.approx(old, rel=0.01, abs=1e-6)


def test_the_texts_on_the_page_come_from_these_runs(again, packed_again) -> None:
    shown = {path.name: path.read_text("utf-8") for path in (FOLDER / "outputs").iterdir()}
    made = again["texts"] | packed_again["texts"]
    assert set(shown) == set(made)
    for name in set(made) - {"effects.txt", "attention.txt", "sides.txt"}:
        assert shown[name] == made[name], name
    for row in RECORD["effects"]:
        ended = f"{row['ended']} of {row['asked']}"
        line = f"{row['setup']:12} {row['loss']:.4f} {ended:>13} {row['right']:7}"
        assert line in shown["effects.txt"].splitlines()


def test_the_program_as_a_reader_starts_it(tmp_path: Path) -> None:
    row = {"instruction": "Maroc ?", "context": "", "response": "Rabat"}
    file = tmp_path / "mine.jsonl"
    file.write_text(f"{json.dumps(row)}\n{json.dumps({'instruction': 'a', 'context': ''})}\n")
    command = [sys.executable, FOLDER / "masks.py", "--tiny", "--data", file]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith(
        f"error: {file}:2: no text in column 'response'\n"
        f"  mend: give every row text in each of: {', '.join(COLUMNS)}\n"
    )


# Labels


def ends_learnt(rows: list[dict], eos: int) -> int:
    return sum(row["labels"][-1] == eos for row in rows)


def test_each_wrong_setup_is_wrong_in_its_own_way(setups, chats, tokenizer) -> None:
    eos = tokenizer.eos_token_id
    assert all(
        row["input_ids"][-1] == eos and row["labels"][-1] == -100 for row in setups["pad=eos"]
    )
    assert all(eos not in row["input_ids"] for row in setups["no eos"])
    assert all(row["labels"] == row["input_ids"] for row in setups["all learnt"])
    assert all(len(row["labels"]) <= masks.TINY.max_tokens for row in setups["cut"])
    assert ends_learnt(setups["cut"], eos) == 0
    assert any(label != -100 for row in setups["cut"] for label in row["labels"])
    judged = {name: masks.judge(rows, chats, tokenizer)["right"] for name, rows in setups.items()}
    assert [name for name, right in judged.items() if not right] == list(masks.WRONG)


def test_a_label_missing_in_the_middle_is_wrong(setups, chats, tokenizer) -> None:
    rows = [{**row, "labels": list(row["labels"])} for row in setups["masked"]]
    rows[7]["labels"][-2] = -100
    assert not masks.judge(rows, chats, tokenizer)["right"]


def test_what_is_learnt_is_the_answer_and_its_end(setups, chats, tokenizer) -> None:
    for row, chat in zip(setups["masked"], chats, strict=True):
        learnt = [label for label in row["labels"] if label != -100]
        assert tokenizer.decode(learnt) == chat[-1]["content"] + "</s>"
        assert [i for i in row["input_ids"][-len(learnt) :]] == learnt


def test_trl_makes_the_labels_that_one_makes_by_hand(setups) -> None:
    """By default for prompt and completion; with assistant_only_loss for conversations."""
    assert setups["TRL pairs"] == setups["masked"]
    assert setups["TRL answers"] == setups["masked"]


def test_trl_learns_all_of_a_conversation_unless_told(chats, tokenizer, setups) -> None:
    rows = masks.prepare([{"messages": chat} for chat in chats], tokenizer)
    assert rows == setups["all learnt"]


def test_of_two_answers_pairs_learn_the_last_and_conversations_both(chats, tokenizer) -> None:
    both = [chats[0] + chats[3]]
    (pair,), (whole,) = masks.trl_pairs(both, tokenizer), masks.trl_answers(both, tokenizer)
    assert pair["input_ids"] == whole["input_ids"]
    texts = [
        tokenizer.decode([label for label in row["labels"] if label != -100])
        for row in (pair, whole)
    ]
    first, last = (f"{chat[-1]['content']}</s>" for chat in (chats[0], chats[3]))
    assert texts == [last, first + last]


def test_trl_appends_eos_to_plain_pairs(tokenizer) -> None:
    (row,) = masks.prepare([{"prompt": "Maroc : ", "completion": "Rabat"}], tokenizer)
    assert tokenizer.decode([i for i in row["labels"] if i != -100]).endswith("Rabat</s>")


def test_trl_silently_drops_rows_whose_answer_was_cut_away(chats, tokenizer) -> None:
    length = RECORD["dropped"]["max_length"]
    prompts = [row["labels"].count(-100) for row in masks.trl_pairs(chats, tokenizer)]
    left = sum(prompt < length for prompt in prompts)
    assert RECORD["dropped"] == {"max_length": length, "rows": len(chats), "left": left}
    assert 0 < left < len(chats)


def test_another_padding_leaves_the_tokenizer_as_it_was(tokenizer) -> None:
    other = masks.with_pad(tokenizer, "</s>")
    assert other.pad_token == "</s>" and tokenizer.pad_token == "<pad>"
    assert masks.with_pad(other).pad_token != "</s>"


def test_the_table_shows_what_is_learnt(setups, tokenizer) -> None:
    text = (FOLDER / "outputs" / "labels.txt").read_text("utf-8")
    lines = text.splitlines()
    row = setups["masked"][masks.TINY.row - 1]
    assert len(lines) == 1 + len(row["input_ids"])
    assert [line[-3:].strip()[-1:] for line in lines[1:]] == [
        "." if label == -100 else "#" for label in row["labels"]
    ]


# What the labels teach


def effects() -> dict[str, dict]:
    return {row["setup"]: row for row in RECORD["effects"]}


def test_without_a_learnt_end_no_answer_ends() -> None:
    found = {name: row["ended"] / row["asked"] for name, row in effects().items()}
    assert found["pad=eos"] == found["no eos"] == 0
    assert found["all learnt"] == found["masked"] == 1
    assert found["cut"] < 0.2, "the end was the first to be cut"


def test_an_end_that_is_masked_is_as_good_as_no_end() -> None:
    """Two mistakes that hide each other: the trainings are the same."""
    one, other = effects()["pad=eos"], effects()["no eos"]
    assert one["loss"] == pytest.approx(other["loss"], abs=1e-5)
    assert one["answers"] == other["answers"]


def test_padding_on_the_left_leaves_answers_as_they_are() -> None:
    sides = RECORD["sides"]
    assert sides["left"] == sides["asked"] and sides["right"] < sides["asked"] / 2


def test_all_masked_is_a_loss_of_zero_and_a_gradient_of_zero() -> None:
    filtered, plain = RECORD["nothing"]
    assert filtered == {"nan_filter": True, "loss": "0.0", "grad_norm": "0.0", "changed": False}
    assert plain == {"nan_filter": False, "loss": "nan", "grad_norm": "0.0", "changed": False}


# Padding


def test_the_share_of_padding() -> None:
    assert packing.wasted([150], [512]) == pytest.approx(0.71, abs=0.005)
    assert packing.wasted([3, 5], [5, 5]) == pytest.approx(0.2)
    assert list(packing.batch_widths([1, 4, 2, 3, 9], 2)) == [4, 4, 3, 3, 9]


def test_every_way_wastes_less_than_the_one_before() -> None:
    shares = [way["share"] for way in PACKING["padding"]]
    assert all(first > second for first, second in pairwise(shares))
    assert shares[0] > 0.9 and shares[-1] < 0.05


# Packing


def test_bfd_drops_what_is_longer_than_a_row(dialogues, packed) -> None:
    lengths = [len(ids) for ids in dialogues["input_ids"]]
    found = packing.count(dialogues, packed["bfd"])
    assert found["tokens_dropped"] == sum(max(0, length - 64) for length in lengths) > 0
    assert found["ends_dropped"] == sum(length > 64 for length in lengths) > 0
    assert found["learnt_dropped"] == sum(
        label != -100 for labels in dialogues["labels"] for label in labels[64:]
    )
    assert found["conversations_in_pieces"] == found["tokens_that_see_others"] == 0


def test_bfd_split_drops_nothing_but_parts_answers_from_their_questions(dialogues, packed) -> None:
    lengths = [len(ids) for ids in dialogues["input_ids"]]
    found, cut = (packing.count(dialogues, packed[name]) for name in ("bfd_split", "bfd"))
    assert found["tokens_dropped"] == found["learnt_dropped"] == found["ends_dropped"] == 0
    assert found["conversations_in_pieces"] == sum(length > 64 for length in lengths)
    assert found["learnt_without_beginning"] == cut["learnt_dropped"] > 0
    assert found["tokens_that_see_others"] == 0


def test_wrapped_drops_nothing_and_mixes_all(dialogues, packed) -> None:
    lengths = [len(ids) for ids in dialogues["input_ids"]]
    found = packing.count(dialogues, packed["wrapped"])
    assert found["rows"] == math.ceil(sum(lengths) / 64)
    assert found["tokens_dropped"] == found["ends_dropped"] == 0
    joined = [number for number, length in enumerate(lengths) for _ in range(length)]
    strangers = sum(joined[place] != joined[place - place % 64] for place in range(len(joined)))
    assert found["tokens_that_see_others"] == strangers > sum(lengths) / 3
    assert list(chain(*packed["wrapped"]["input_ids"])) == list(chain(*dialogues["input_ids"]))


def test_rows_that_fit_lose_nothing_to_bfd(dialogues) -> None:
    longest = max(len(ids) for ids in dialogues["input_ids"])
    found = packing.count(dialogues, packing.pack(dialogues, longest)["bfd"])
    assert found["tokens_dropped"] == found["ends_dropped"] == found["conversations_in_pieces"] == 0


def test_every_answer_of_a_dialogue_is_learnt(dialogues, tokenizer) -> None:
    chats = packing.read_chats(packing.DIALOGUES, 42)
    assert {len(chat) // 2 for chat in chats} == set(packing.TURNS)
    for chat, labels in zip(chats[:9], dialogues["labels"], strict=False):
        learnt = tokenizer.decode([label for label in labels if label != -100])
        assert learnt == "".join(f"{turn['content']}</s>" for turn in chat[1::2])


# Attention


def test_positions_that_start_again_keep_conversations_apart() -> None:
    for ways in PACKING["attention"].values():
        apart, *mixed = (ways[way] for way in packing.WAYS)
        assert apart < 1e-6
        assert all(difference > 0.05 for difference in mixed), "a cache, a mask or nothing: a leak"


def test_trainer_turns_off_the_cache_that_would_mix_them(tmp_path: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float32)
    assert model.config.use_cache
    rows = [{"input_ids": [5, 6], "labels": [5, 6]}]
    args = TrainingArguments(str(tmp_path), max_steps=1, use_cpu=True, save_strategy="no")
    trainer = Trainer(model, args, train_dataset=rows)
    trainer.train()
    assert not model.config.use_cache


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_the_loss_of_packed_rows_is_that_of_separate_ones(
    attention: str, dialogues, tokenizer, tmp_path: Path
) -> None:
    """What SFTTrainer computes with packing, against one conversation at a time."""
    model = AutoModelForCausalLM.from_pretrained(
        BASE, dtype=torch.float32, attn_implementation=attention
    )
    short = [number for number, ids in enumerate(dialogues["input_ids"]) if len(ids) <= 64][:12]
    rows = dialogues.select(short).select_columns(["input_ids", "labels"])
    total = tokens = 0.0
    with torch.no_grad():
        for row in rows:
            ids, labels = (torch.tensor([row[name]]) for name in ("input_ids", "labels"))
            count = int((labels[:, 1:] != -100).sum())
            total += model(ids, labels=labels).loss.item() * count
            tokens += count
    args = SFTConfig(
        str(tmp_path),
        packing=True,
        max_length=64,
        per_device_eval_batch_size=1,
        use_cpu=True,
        bf16=False,
        activation_checkpointing=False,
        save_strategy="no",
    )
    trainer = SFTTrainer(model, args, train_dataset=rows, processing_class=tokenizer)
    model.config.use_cache = False
    assert len(trainer.train_dataset) < len(rows)
    packed_total = 0.0
    for batch in trainer.get_train_dataloader():
        count = int((batch["labels"][:, 1:] != -100).sum())
        with torch.no_grad():
            packed_total += trainer.compute_loss(model, dict(batch)).item() * count
    assert packed_total / tokens == pytest.approx(total / tokens, rel=1e-5)


# Refusals


def unmarked(folder: Path) -> str:
    """Store the tiny base's tokenizer with a template that does not mark answers."""
    tokenizer = AutoTokenizer.from_pretrained(BASE)
    tokenizer.chat_template = re.sub(r"{% (end)?generation %}", "", tokenizer.chat_template)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("program", [masks, packing])
def test_a_template_that_does_not_mark_answers(program, tmp_path: Path) -> None:
    text = refusal(program, "--model", unmarked(tmp_path))
    assert "does not mark answers, and TRL has none that does" in text
    assert "{% generation %} and {% endgeneration %}" in text


@pytest.mark.parametrize("program", [masks, packing])
def test_a_model_without_a_template(program, tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(BASE)
    tokenizer.chat_template = None
    tokenizer.save_pretrained(tmp_path)
    assert "has no chat template" in refusal(program, "--model", str(tmp_path))


@pytest.mark.parametrize(
    ("program", "flags", "said"),
    [
        (masks, ["--row", "1000"], "there is no row 1000"),
        (masks, ["--max-tokens", "3"], "every label is masked when rows are cut at 3 tokens"),
        (masks, ["--data", "none.jsonl"], "none.jsonl was not found"),
        (masks, ["--model", "Qwen/Qwen2.5-0.5B-Instruct"], "the Hub cannot be reached"),
        (packing, ["--length", "0"], "--length and --batch-size must be above 0"),
        (packing, ["--data", "none.jsonl"], "none.jsonl was not found"),
        (packing, ["--model", "no/such"], "the Hub cannot be reached"),
    ],
)
def test_what_cannot_be_done(program, flags: list[str], said: str) -> None:
    assert said in refusal(program, *flags)


def test_own_rows(tmp_path: Path, capsys) -> None:
    masks.main(["--tiny", "--data", str(DATA / "validation.jsonl"), "--max-tokens", "60"])
    packing.main(["--tiny", "--data", str(DATA / "validation.jsonl")])
    shown = capsys.readouterr().out
    assert "120 conversations" in shown and re.search(r"TRL pairs .* right\n", shown)


# What the pages rely on


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("masks", "wrong right setups effect sides nothing"),
        ("packing", "waste pack count attention"),
    ],
)
def test_the_markers_of_each_region_count_from_one(program: str, expected: str) -> None:
    text = (FOLDER / f"{program}.py").read_text("utf-8")
    regions = re.findall(r"\[start:([a-z]+)\](.*?)\[end:\1\]", text, re.DOTALL)
    assert [name for name, _ in regions] == expected.split()
    for name, body in regions:
        markers = [int(number) for number in re.findall(r"# \((\d+)\)!", body)]
        assert markers == list(range(1, len(markers) + 1)) and 2 <= len(markers) <= 5, name
