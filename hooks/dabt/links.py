"""Links between pages of one language's tree, as the site serves them (directory URLs)."""

from posixpath import relpath

from dabt.languages import Language


def page_folder(page: str) -> str:
    """The folder that serves a page: `full/traditional.md` → `full/traditional`, home → ``."""
    folder = page.removesuffix(".md")
    if folder == "index" or folder.endswith("/index"):
        folder = folder.removesuffix("index").rstrip("/")
    return folder


def relative_link(source: str, target: str, section: str = "") -> str:
    """The link from a page to a section of another (or the same): `../../full/traditional/#memory`.

    Both pages are Markdown paths inside the same language's tree.
    """
    anchor = f"#{section}" if section else ""
    if source == target and anchor:
        return anchor
    path = relpath(f"/{page_folder(target)}", f"/{page_folder(source)}")
    return f"{path}/{anchor}"


def crossing_link(page: str, source: Language, target: Language, section: str = "") -> str:
    """The link from a page to the same page in another language: `../../fr/peft/lora/#alpha`."""
    here, there = (served(page, language) for language in (source, target))
    return f"{relpath(f'/{there}', f'/{here}')}/{f'#{section}' if section else ''}"


def served(page: str, language: Language) -> str:
    """The address of a page below the root of the site: `peft/lora/`, `fr/peft/lora/`.

    The default language has no folder of its own.
    """
    folder = page_folder(page)
    parts = (folder,) if language.default else (language.code, folder)
    return "".join(f"{part}/" for part in parts if part)
