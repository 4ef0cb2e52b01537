"""The site's search: what pages hold, how words are compared, what the browser reads."""
