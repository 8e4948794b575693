"""The suite edit2ripple."""
