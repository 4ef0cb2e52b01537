"""What each language says of each section, and whether the others say the same: no git, no dates.

A section, a question, a term or an interface string is a unit. Its text in each language has a
fingerprint; `docs/_data/translation/` keeps those that somebody confirmed together. `survey`
compares them, and four views show what it found: the command line, a page of the site, a line
under a section that lags, and the list of `dabt check`.
"""

from dabt.translation.confirm import confirm
from dabt.translation.survey import Survey, survey

__all__ = ["Survey", "confirm", "survey"]
