"""What a built site needs to be read without a network: stamped addresses, a list, an archive.

`publish(site, languages)` works on the folder that a build wrote, since only there every file is
seen as a reader gets it. `mkdocs serve` never comes here: it has no worker that could answer with
a page of yesterday.
"""

from dabt.offline.publish import publish

__all__ = ["publish"]
