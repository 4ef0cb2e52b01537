"""What the examples share besides the tiny model: checks before a run, and what a run records.

Programs import it before the libraries, since it silences one line that looks like a failure: on
some processors bitsandbytes says at import that it cannot load a faster 4-bit product, which would
need the package `kernels` and a download. It has its own, and the course uses that.
"""

import logging

logging.getLogger("bitsandbytes.backends.cpu.ops").addFilter(
    lambda line: "gemm_4bit_forward" not in str(line.msg)
)
