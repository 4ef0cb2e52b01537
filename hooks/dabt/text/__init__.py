"""How texts are written: punctuation, digits, spaces, spelling traps, in each language."""
