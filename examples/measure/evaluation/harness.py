"""A task of one's own in lm-evaluation-harness, and the command for the tasks that it ships.

Chapter measure/evaluation of the course; it needs this folder's requirements.txt too. The tiny base
chooses among four capitals, in Arabic, French and English; so does what a short training makes of
it. Offline, on the processor:

    python examples/measure/evaluation/harness.py --tiny
    python examples/measure/evaluation/harness.py --tiny --write      writes tasks/*.jsonl anew

The same tasks for any model, and public ones, from the project's folder (they are downloaded):

    lm_eval --model hf --model_args pretrained=MODEL,peft=output/lora,dtype=bfloat16 \\
        --include_path examples/measure/evaluation/tasks \\
        --tasks capitals_ar,capitals_fr,arabicmmlu,french_bench,belebele_arb_Arab --batch_size 8

It needs the model's 2 B/parameter and the logits of 8 questions: 16 GB for 7 billion parameters.
"""

import json
import random
import sys
import time
from contextlib import chdir
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

try:
    from lm_eval import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager
except ModuleNotFoundError:
    raise SystemExit(
        "error: lm_eval is not installed\n"
        "  mend: pip install -r examples/measure/evaluation/requirements.txt"
    ) from None

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import make_parser
from common.rows import read
from full.traditional import train as full
from measure.evaluation import intervals, score
from tiny import facts

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[2]
TASKS = HERE / "tasks"
LANGUAGES = ("ar", "fr", "en")


def questions(language: str) -> list[dict]:
    """Ask for each capital among four of the same language; always the same questions."""
    mine = [fact for fact in facts() if fact["language"] == language]
    draw, rows = random.Random(language), []
    for fact in mine:
        others = [one["answer"] for one in mine if one["answer"] != fact["answer"]]
        choices = [fact["answer"], *draw.sample(others, 3)]
        draw.shuffle(choices)
        place = choices.index(fact["answer"])
        rows.append({"prompt": fact["prompt"], "choices": choices, "answer": place})
    return rows


def write_tasks(folder: Path) -> None:
    """Write the questions, one a line."""
    for language in LANGUAGES:
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in questions(language)]
        (folder / f"capitals_{language}.jsonl").write_text("".join(lines), encoding="utf-8")


# --8<-- [start:harness]
def evaluate(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, chat: bool = False
) -> dict[str, tuple[int, int]]:
    """Let the harness put the questions; give the right answers and the questions of each task."""
    with chdir(PROJECT):  # (1)!
        found = simple_evaluate(
            HFLM(pretrained=model, tokenizer=tokenizer, batch_size=32),  # (2)!
            tasks=[f"capitals_{language}" for language in LANGUAGES],
            task_manager=TaskManager(include_path=str(TASKS)),  # (3)!
            apply_chat_template=chat,  # (4)!
            bootstrap_iters=0,
        )
    samples = found["samples"]
    return {
        name: (round(sum(one["acc"] for one in rows)), len(rows)) for name, rows in samples.items()
    }
    # --8<-- [end:harness]


# --8<-- [start:count]
@torch.no_grad()
def count_right(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: list[dict]
) -> int:
    """Do by hand what the harness does: the choice with the highest log-probability wins."""
    right = 0
    for row in rows:
        asked = tokenizer(row["prompt"], add_special_tokens=False).input_ids
        scores = []
        for choice in row["choices"]:
            told = tokenizer(f" {choice}", add_special_tokens=False).input_ids  # (1)!
            logits = model(torch.tensor([asked + told])).logits[0].log_softmax(-1)
            places = range(len(asked) - 1, len(asked) + len(told) - 1)
            scores.append(sum(logits[p, t].item() for p, t in zip(places, told, strict=True)))
        right += scores.index(max(scores)) == row["answer"]
    return right
    # --8<-- [end:count]


def show(scores: list[dict]) -> str:
    """Show each task's score with its interval."""
    lines = ["model   asked as    task          score    95 %"]
    for row in scores:
        lines.append(
            f"{row['model']:7} {row['form']:11} {row['task']:12} {row['score']:6.1%}"
            f"   {row['low']:6.1%} to {row['high']:6.1%}"
        )
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> None:
    """Ask the base and a trained model, as text to go on with and in the chat template."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="the only way: see above for others")
    parser.add_argument("--write", action="store_true", help="write tasks/*.jsonl anew")
    parser.add_argument("--record", action="store_true", help="refresh harness.json and outputs/")
    options = parser.parse_args(argv)
    if not options.tiny:
        guard.stop("only the tiny base is asked here", "add --tiny, or use the command lm_eval")
    if options.write:
        write_tasks(TASKS)
    guard.hush()
    started, settings = time.process_time(), score.TINY
    tokenizer = full.load_tokenizer(settings)
    rows = full.encode_all(read(settings.data)[0], tokenizer, settings.max_tokens)
    models = score.train_tiny(settings, rows, steps=score.EARLY)
    del models["tuned"]
    scores = []
    for name, model in models.items():
        for form, chat in (("text", False), ("chat", True)):
            for task, (right, asked) in evaluate(model.eval(), tokenizer, chat).items():
                low, high = intervals.wilson(right, asked)
                told = {"id": f"{name}-{form}-{task}", "model": name, "form": form, "task": task}
                scores.append(told | {"score": right / asked, "low": low, "high": high, "n": asked})
    folder = HERE if options.record else None
    record.show(show(scores), folder, "harness.txt")
    if folder:
        seconds = round(time.process_time() - started, 1)
        record.write(HERE, {"seconds": seconds, "scores": scores}, "harness.json")


if __name__ == "__main__":
    main()
