"""The tests of captures of context packets."""
