"""Code searches in a report: the section, its rows, scoreboards, and the files of the original tool."""
