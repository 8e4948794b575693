"""The suite abstention."""
