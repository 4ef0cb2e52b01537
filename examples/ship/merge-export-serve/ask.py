"""Ask a served model a question, as an application does: any server that speaks OpenAI's dialect.

python examples/ship/merge-export-serve/ask.py "ما عاصمة المغرب؟" --model output/ship/merged
python examples/ship/merge-export-serve/ask.py "..." --url http://localhost:8080/v1

Nothing but Python is needed. The answer is shown as it is written; then why it ended: `stop` at the
token that ends an answer, `length` when it was cut.
"""

import argparse
import json
import urllib.error
import urllib.request
from collections.abc import Iterator


# --8<-- [start:ask]
def ask(url: str, model: str, question: str, most: int = 64) -> Iterator[dict]:
    """Stream an answer; yields pieces of text, then why it ended and how many tokens it has."""
    request = {
        "model": model,
        "messages": [{"role": "user", "content": question}],  # (1)!
        "max_tokens": most,  # (2)!
        "temperature": 0,
        "stream": True,
    }
    call = urllib.request.Request(
        f"{url}/chat/completions",
        json.dumps(request).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(call, timeout=120) as answer:
        for line in answer:  # (3)!
            event = line.decode().strip().removeprefix("data: ")
            if not event or event == "[DONE]":
                continue
            yield from read_event(json.loads(event))


def read_event(event: dict) -> Iterator[dict]:
    """Take the text, the reason of the end and the count out of a piece of the stream."""
    for choice in event.get("choices", []):
        if text := choice["delta"].get("content"):
            yield {"text": text}
        if reason := choice.get("finish_reason"):
            yield {"ended": reason}  # (4)!
    if usage := event.get("usage"):
        yield {"tokens": usage["completion_tokens"]}
        # --8<-- [end:ask]


def main(argv: list[str] | None = None) -> None:
    """Ask one question, and show the answer as it comes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("question")
    parser.add_argument("--url", default="http://localhost:8000/v1")
    parser.add_argument("--model", default="output/ship/merged", help="the name it is served under")
    parser.add_argument("--max-tokens", type=int, default=64)
    options = parser.parse_args(argv)
    facts = {}
    try:
        for piece in ask(options.url, options.model, options.question, options.max_tokens):
            print(piece.get("text", ""), end="", flush=True)
            facts |= piece
    except urllib.error.URLError as error:
        raise SystemExit(
            f"error: no answer from {options.url} ({error})\n"
            "  mend: start a server first, such as serve.py's, and check --url and --model"
        ) from None
    print(f"\n[ended: {facts.get('ended')}, tokens: {facts.get('tokens', 'not told')}]")


if __name__ == "__main__":
    main()
