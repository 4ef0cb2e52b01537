"""The line of a chapter that offers its notebook: to download, and on other machines.

Plain links: nothing is asked of another host until the reader follows one.
"""

from posixpath import relpath

from markupsafe import Markup

from dabt.quiz.inline import typeset
from dabt.ui import Ui

LINE = Markup('\n<p class="dabt-line dabt-notebook" data-search-exclude>{}</p>')
LINK = Markup('<a href="{}"{}>{}</a>')
GITHUB = "https://github.com/"
COLAB = "https://colab.research.google.com/github/"
KAGGLE = "https://kaggle.com/kernels/welcome?src="


def hosts(address: str, file: str) -> dict[str, str]:
    """Where a notebook that GitHub keeps is opened, by the name of the host.

    `address` is that of the folder which has `notebooks/`, as GitHub shows it:
    `https://github.com/OWNER/NAME/blob/BRANCH/`. Colab and Kaggle open nothing else by a link.
    """
    if not address.startswith(GITHUB):
        return {}
    whole = f"{address.rstrip('/')}/{file}"
    return {"Colab": COLAB + whole.removeprefix(GITHUB), "Kaggle": KAGGLE + whole}


def render_offer(
    file: str, size: int, served: str, address: str, language: str, ui: Ui, shown: str = ""
) -> str:
    """The line of the page at `served` (`fr/peft/lora/`); `shown`: the notebook as a page."""
    here = f"/{served}".rstrip("/") or "/"
    kilobytes = ui.text("notebook.download", language, size=max(1, round(size / 1000)))
    links = [
        LINK.format(relpath(f"/{file}", here), Markup(" download"), typeset(kilobytes, language))
    ]
    if shown:
        words = typeset(ui.text("notebook.read", language), language)
        links.append(LINK.format(f"{relpath(f'/{shown}', here)}/", "", words))
    for name, target in hosts(address, file).items():
        words = typeset(ui.text("notebook.open", language, host=name), language)
        links.append(LINK.format(target, Markup(' rel="noreferrer"'), words))
    return LINE.format(Markup(" · ").join(links))
