"""What `make` calls: environments, stages, checks of text and links. Standard library only."""
