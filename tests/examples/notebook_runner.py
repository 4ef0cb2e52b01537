"""Runs notebooks, each in a process of its own that begins with the libraries already read.

One line comes in for each, the JSON of {notebook, folder}; one goes out, its exit code. What it
prints is in `folder/log.txt`. Importing torch, transformers and trl twelve times would take longer
than the runs themselves.
"""

import __future__

import json
import linecache
import os
import sys
import traceback
import types
from pathlib import Path

LATER = "from __future__ import annotations"


def run_cells(codes: list[str]) -> int:
    """Run code cells as a kernel does: one namespace, which is the module `__main__`."""
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    flags = 0
    try:
        for number, code in enumerate(codes):
            if LATER in code:  # holds for the cells that follow too, as in IPython
                flags = __future__.annotations.compiler_flag
            name = f"<cell {number}>"  # its lines can be asked for, as a kernel's can
            linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
            exec(compile(code, name, "exec", flags, dont_inherit=True), vars(module))
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def run_apart(notebook: Path, folder: Path) -> int:
    """Run a notebook in a copy of this process, in a folder of its own."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    os.chdir(folder)
    log = os.open("log.txt", os.O_WRONLY | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    code = run_cells(["".join(one["source"]) for one in cells if one["cell_type"] == "code"])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    """Read the libraries once, then serve."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library says while it is imported is no answer
    import bitsandbytes  # noqa: F401
    import torch  # noqa: F401
    import transformers  # noqa: F401
    import trl  # noqa: F401

    for line in sys.stdin:
        asked = json.loads(line)
        print(run_apart(Path(asked["notebook"]), Path(asked["folder"])), file=answers)


if __name__ == "__main__":
    main()
