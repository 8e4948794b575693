"""The suite comment2context."""
