"""The suite trial."""
