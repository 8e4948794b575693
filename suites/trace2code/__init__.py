"""The suite trace2code."""
