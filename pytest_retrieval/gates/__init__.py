"""Statistics become an exit code: what a gate says, and whether it holds."""
