"""Rules of our own, one small module each."""
