"""What pages weigh: bytes as a host sends them that keeps brotli files beside the site.

Brotli at its highest level (11), since such a host compresses once; fonts and pictures as they are.
"""

from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

import brotli

PACKED = (".woff2", ".ico", ".png")


@lru_cache(maxsize=512)
def packed(path: Path) -> int:
    """Return the bytes that a file of the site costs."""
    data = path.read_bytes()
    return len(data) if path.suffix in PACKED else packed_text(data.decode())


def file_of(url: str, site_address: str, site_folder: Path) -> Path:
    """Return the file that a host answers with."""
    base = urlsplit(site_address).path
    path = site_folder / urlsplit(url).path.removeprefix(base)
    return path / "index.html" if path.is_dir() else path


def weigh(urls: list[str], site_address: str, site_folder: Path) -> dict[str, int]:
    """Return the bytes of each answer by its path, the heaviest first."""
    found = [file_of(url, site_address, site_folder) for url in urls]
    sizes = {one.relative_to(site_folder).as_posix(): packed(one) for one in found}
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def packed_text(text: str) -> int:
    """Return the bytes that a text costs."""
    return len(brotli.compress(text.encode(), quality=11))
