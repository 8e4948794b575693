"""The suite code2test."""
