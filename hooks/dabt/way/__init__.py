"""Finding one's way: the menu, reading time, last changes, progress, feeds.

Everything is made at build from the sources; the reader's own progress stays in the browser
(docs/assets/way.js and progress.js).
"""
