"""Notebooks: a chapter's main program, explained by the chapter's own words, in each language.

program.py    a program as blocks, in an order that runs from top to bottom
prose.py      a page as texts and places of code, in the Markdown that notebooks show
setup.py      the first cells: the card, the pinned libraries, the programs of the course
build.py      both together, as the JSON of a notebook
choice.py     docs/_data/notebooks.yml: which program, with which options
archive.py    examples.zip, which a notebook on a machine without this repository asks for
offer.py      the line of a chapter that offers its notebook
"""
