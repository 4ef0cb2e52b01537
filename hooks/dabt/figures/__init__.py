"""Figures: drawn at build from what an example recorded, with words in the page's language."""

from dabt.figures.load import read_figures
from dabt.figures.model import Figure
from dabt.figures.render import render_figure

__all__ = ["Figure", "read_figures", "render_figure"]
