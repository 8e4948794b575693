"""The tests of code searches in a report."""
