"""Code-search tools as JSON files describe them: reading the description, the templates and the output."""
