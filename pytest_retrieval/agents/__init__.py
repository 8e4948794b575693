"""Agents as descriptions: how a command line is called, and where its reply and its costs stand."""
