"""The glossary: its terms, where a text uses them, which words it avoids, how it is shown."""
