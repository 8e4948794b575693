"""The suite locbench."""
