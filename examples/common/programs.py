"""Use one program of the course in another: folders such as peft/ are not packages of ours."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

EXAMPLES = Path(__file__).resolve().parents[1]


def load(path: str) -> ModuleType:
    """Load `examples/PATH` as a module, once."""
    name = path.removesuffix(".py").replace("/", "_").replace("-", "_")
    if name not in sys.modules:
        spec = spec_from_file_location(name, EXAMPLES / path)
        sys.modules[name] = module_from_spec(spec)  # where a dataclass looks for its module
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
