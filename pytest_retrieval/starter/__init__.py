"""What ``pytest-retrieval init`` puts into a repository."""
