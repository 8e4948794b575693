"""The places that start a program, and that see to it that none is left, whatever ends the run."""
