"""Tasks from the history of a repository: its commits say which files belong together."""
