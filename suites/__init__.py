"""The suites: one page per task."""
