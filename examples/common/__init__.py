"""What the examples share besides the tiny model: checks before a run, and what a run records."""
