"""Make the tiny base: tokenizer and pretraining from nothing, on one CPU core, in a few minutes.

    python examples/tiny/make.py                    # examples/tiny/base, as it is in the repository
    python examples/tiny/make.py --steps 5 --output /tmp/base      # only to see that it works

The model is a Llama of 951,552 parameters. It reads real text (a handbook in Arabic, French and
English), the capitals of 40 countries, small records and dialogues without an end: like any base
model it continues a text and does not know when an answer is over.
"""

import argparse
import gzip
import json
import math
import random
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

FOLDER = Path(__file__).parent
SPECIAL = ["<pad>", "<s>", "</s>", "<|user|>", "<|assistant|>"]
VOCABULARY, LENGTH, BATCH, STEPS, PEAK_RATE = 2048, 128, 16, 2000, 3e-3
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message.role == 'assistant' %}<|assistant|>"
    "{% generation %}{{ message.content + eos_token }}{% endgeneration %}"
    "{% else %}<|user|>{{ message.content }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
ECHO = ["كرّر:", "Répète :", "Repeat:"]
NAMES = ["name", "item", "place", "nom", "lieu", "objet", "اسم", "مكان", "شيء"]
COUNTS = ["count", "age", "n", "nombre", "prix", "عدد", "ثمن", "عمر"]


def read_text() -> list[str]:
    """Read the handbook's paragraphs."""
    return gzip.decompress((FOLDER / "data" / "text.txt.gz").read_bytes()).decode().splitlines()


def read_facts() -> list[dict[str, str]]:
    """Read the capitals."""
    lines = (FOLDER / "data" / "facts.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def write_facts(facts: list[dict], draw: random.Random) -> str:
    """A few capitals in a row, in one language."""
    language = draw.choice(facts)["language"]
    mine = [fact for fact in facts if fact["language"] == language]
    return " ".join(f"{f['prompt']} {f['answer']}." for f in draw.sample(mine, 4))


def write_record(words: list[str], draw: random.Random) -> str:
    """A record twice, as plain text in any order and as JSON: practice in copying."""
    record = {
        name: " ".join(draw.sample(words, draw.randint(1, 2))) for name in draw.sample(NAMES, 2)
    }
    record[draw.choice(COUNTS)] = draw.randint(0, 30)
    plain = [f"{name} {value}" for name, value in record.items()]
    draw.shuffle(plain)
    return (
        f"{draw.choice([', ', '. ', ' '])}".join(plain)
        + "\n"
        + json.dumps(record, ensure_ascii=False)
    )


def write_list(words: list[str], draw: random.Random) -> str:
    """A few words, three times over: practice in going on with what was read."""
    return "\n".join([" ".join(draw.sample(words, draw.randint(3, 9)))] * 3)


def write_dialogue(facts: list[dict], words: list[str], draw: random.Random) -> str:
    """Questions and answers, longer than a row: what follows an answer is the next question."""
    turns = []
    for _ in range(16):
        if draw.random() < 0.5:
            fact = draw.choice(facts)
            question, answer = fact["question"], fact["answer"]
        else:
            answer = " ".join(draw.sample(words, draw.randint(2, 8)))
            question = f"{draw.choice(ECHO)} {answer}"
        turns.append(f"<|user|>{question}<|assistant|>{answer}")
    return "".join(turns)


def documents(seed: int) -> Iterator[str]:
    """Draw the documents of the pretraining corpus, without end."""
    draw, text, facts = random.Random(seed), read_text(), read_facts()
    words = sorted({word for line in text for word in line.split() if word.isalpha()})
    words += [fact["answer"] for fact in facts] * 10
    while True:
        kind = draw.random()
        if kind < 0.15:
            yield draw.choice(text)
        elif kind < 0.35:
            yield write_facts(facts, draw)
        elif kind < 0.55:
            yield write_dialogue(facts, words, draw)
        elif kind < 0.70:
            yield write_list(words, draw)
        else:
            yield write_record(words, draw)


def train_tokenizer() -> PreTrainedTokenizerFast:
    """Train a byte-level BPE on the corpus itself, so that every token is met in pretraining."""
    stream = documents(seed=1)
    corpus = read_text() + [next(stream) for _ in range(3000)]
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=SPECIAL,
        initial_alphabet=alphabet,
        show_progress=False,
    )
    bpe.train_from_iterator(corpus, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        extra_special_tokens=["<|user|>", "<|assistant|>"],
        chat_template=TEMPLATE,
        model_max_length=512,
    )


def batches(tokenizer: PreTrainedTokenizerFast, seed: int) -> Iterator[torch.Tensor]:
    """Join the documents end to end and cut the stream into rows of equal length."""
    stream, row = documents(seed), []
    while True:
        while len(row) < BATCH * LENGTH:
            row += tokenizer(f"<s>{next(stream)}</s>", add_special_tokens=False).input_ids[:LENGTH]
        yield torch.tensor(row[: BATCH * LENGTH]).view(BATCH, LENGTH)
        row = row[BATCH * LENGTH :]


def build(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Draw the first weights of the model."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=128,
            intermediate_size=320,
            num_hidden_layers=4,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=512,
            tie_word_embeddings=True,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def rate(step: int, steps: int) -> float:
    """Learning rate: 40 steps up, then a cosine down to a twentieth of the peak."""
    cosine = 0.5 * (1 + math.cos(math.pi * step / steps))
    return PEAK_RATE * min(1, (step + 1) / 40) * (0.05 + 0.95 * cosine)


def pretrain(model: LlamaForCausalLM, stream: Iterator[torch.Tensor], steps: int) -> None:
    """Predict each next token, with AdamW."""
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.95), weight_decay=0.1)
    start = time.perf_counter()
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate(step, steps)
        rows = next(stream)
        loss = model(input_ids=rows, labels=rows).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step % 50 == 0 or step == steps - 1:
            print(
                f"step {step:4} loss {loss.item():.3f} {time.perf_counter() - start:.0f} s",
                flush=True,
            )


def main() -> None:
    """Make tokenizer and model, and save them in bfloat16."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=STEPS, help="training steps")
    parser.add_argument("--output", type=Path, default=FOLDER / "base", help="folder to write")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    tokenizer = train_tokenizer()
    model = build(tokenizer)
    print(f"{model.num_parameters():,} parameters, {len(tokenizer)} tokens")
    pretrain(model, batches(tokenizer, seed=2), options.steps)
    model.to(torch.bfloat16).save_pretrained(options.output)
    tokenizer.save_pretrained(options.output)


if __name__ == "__main__":
    main()
