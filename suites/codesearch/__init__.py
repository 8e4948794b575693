"""The suite codesearch."""
