"""The tests of tools by their descriptions."""
