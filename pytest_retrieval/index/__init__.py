"""Counts that the lexical arms share, made once per distinct content."""
