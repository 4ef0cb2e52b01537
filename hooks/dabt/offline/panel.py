"""The parts of the page on reading without a network: `::: offline keep`, `::: offline archive`.

What needs the worker is hidden until `docs/assets/offline-page.js` has one; the link to the archive
until there is one: `publish` fills
{address} and {megabytes}. The names of classes and data are shared with that script.
"""

import json

from markupsafe import Markup

from dabt.directives import Directive, Place
from dabt.problems import DabtError, Problem, did_you_mean
from dabt.quiz.inline import typeset
from dabt.ui import Ui

KEEP = Markup("""<section class="dabt-offline" aria-label="{title}" data-strings="{strings}">
<p class="dabt-offline__here" hidden>{here}</p>
<noscript><p>{noscript}</p></noscript>
<div class="dabt-offline__missing" hidden><p>{missing} <bdi></bdi></p>\
<p><a class="md-button">{retry}</a></p></div>
<p class="dabt-offline__state"></p>
<p class="dabt-offline__buttons" hidden>\
<button type="button" class="md-button md-button--primary" data-do="one"></button> \
<button type="button" class="md-button" data-do="all"></button> \
<button type="button" class="md-button" data-do="stop" hidden>{stop}</button> \
<button type="button" class="md-button" data-do="remove" hidden>{remove}</button></p>
<progress class="dabt-offline__bar" aria-label="{title}" value="0" max="1" hidden></progress>
<p class="dabt-offline__count" hidden></p>
<p class="dabt-offline__told" role="status"></p>
<details class="dabt-offline__kept" hidden><summary>{kept}</summary><ul></ul></details>
</section>""")
ARCHIVE = Markup("""<p class="dabt-offline__archive" hidden>\
<a class="md-button" href="{{address}}" download>{archive}</a></p>""")
WORDS = ("title", "here", "noscript", "missing", "retry", "stop", "remove", "kept")


def render_panel(argument: str, place: Place, ui: Ui) -> str:
    """Return the HTML of one part. Raises DabtError for an unknown one."""
    if argument not in ("keep", "archive"):
        raise DabtError([_unknown(Directive("offline", argument, place.line, 1), place.file)])

    def words(key: str, **values: str) -> str:
        return typeset(ui.text(f"offline.{key}", place.language, **values), place.language)

    if argument == "archive":
        # The number and its unit are one run from left to right in any text.
        size = Markup('<bdi dir="ltr">{}</bdi>').format(words("size", value="{megabytes}"))
        text = Markup.escape(words("archive", size="{size}")).format(size=size)
        return str(ARCHIVE.format(archive=text))
    strings = {
        key: typeset(text, place.language)
        for key, text in ui.below("offline.js", place.language).items()
    }
    told = json.dumps(strings, ensure_ascii=False)
    return str(KEEP.format(strings=told, **{key: words(key) for key in WORDS}))


def _unknown(found: Directive, file: str) -> Problem:
    message = f"unknown part '{found.argument}' of the page on reading without a network"
    mend = did_you_mean(found.argument, ("archive", "keep"))
    return Problem(file, found.line, found.column, message, "unknown-offline", mend)
