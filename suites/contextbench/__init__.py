"""The suite contextbench."""
