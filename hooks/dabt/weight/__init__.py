"""What keeps pages light: code with little markup, one style sheet without what nothing uses."""
