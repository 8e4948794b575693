"""Outcomes become one canonical report, and the report becomes text for people."""
