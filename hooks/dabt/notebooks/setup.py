"""The first cells of a notebook: the card, the pinned libraries, the programs of the course.

They are the same in every language, for any machine: Colab, Kaggle, a clone of the repository.
"""

import re
from collections.abc import Sequence

# What Colab and Kaggle bring in a version that fits their driver, or what only the server of
# ship/merge-export-serve needs: left as it is.
LEFT = frozenset({"torch", "numpy", "fastapi", "uvicorn", "starlette", "openai"})
PIN = re.compile(r"^(?P<name>[A-Za-z0-9_.-]+)==(?P<version>\S+)", re.MULTILINE)
ARCHIVE = "notebooks/examples.zip"

CARD = """\
import shutil
import subprocess

ASK = ["nvidia-smi", "--query-gpu=name,memory.total,compute_cap", "--format=csv,noheader"]
found = ""
if shutil.which("nvidia-smi"):
    found = subprocess.run(ASK, capture_output=True, text=True).stdout.strip()
for line in found.splitlines():
    name, memory, capability = line.split(", ")
    print(f"{name}, {memory}: {'bf16' if float(capability) >= 8 else 'fp16, no bf16 (a T4, say)'}")
if not found:
    print("no GPU: leave ON_GPU as it is, False")
ON_GPU = False  # True: the run of the chapter, on a GPU; False: the tiny one, on any computer"""

PINS = '''\
import sys
from importlib.metadata import PackageNotFoundError, version

PINS = [
{pins}
]


def fits(pin: str) -> bool:
    """Say whether a library is here in the version of the course."""
    name, _, wanted = pin.partition("==")
    try:
        return version(name).partition("+")[0] == wanted
    except PackageNotFoundError:
        return False


missing = [pin for pin in PINS if not fits(pin)]
if missing:
    print("installing", *missing)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *missing], check=True)'''

PROGRAMS = '''\
import zipfile
from pathlib import Path
from urllib.request import urlretrieve

SITE = {site!r}  # where the course is published
HERE_AND_ABOVE = [Path.cwd(), *Path.cwd().parents]


def find_examples() -> Path:
    """Find the programs of the course beside this notebook or above it, or bring them here."""
    for folder in HERE_AND_ABOVE:
        if (folder / "examples/common/guard.py").is_file():
            return folder / "examples"
    if not SITE:
        sys.exit(
            "error: the folder examples/ of the course is not here\\n"
            "  mend: put this notebook into a clone of its repository, or examples/ beside it"
        )
    urlretrieve(SITE + "{archive}", "examples.zip")
    zipfile.ZipFile("examples.zip").extractall()
    return Path.cwd() / "examples"


EXAMPLES = find_examples()
__file__ = str(EXAMPLES / "{program}")  # what follows is this program
sys.path[:0] = [str(Path(__file__).parent), str(EXAMPLES)]
print(EXAMPLES)'''


def read_pins(requirements: str) -> tuple[str, ...]:
    """The pins of examples/requirements.txt that a notebook asks for."""
    found = (match[0] for match in PIN.finditer(requirements))
    return tuple(pin for pin in found if pin.partition("==")[0] not in LEFT)


def first_cells(pins: Sequence[str], program: str, site: str) -> tuple[str, str, str]:
    """The code of the three first cells; `site` is the address of the course, or ``."""
    listed = "\n".join(f'    "{pin}",' for pin in pins)
    programs = PROGRAMS.format(site=site, archive=ARCHIVE, program=program)
    return CARD, PINS.format(pins=listed), programs
