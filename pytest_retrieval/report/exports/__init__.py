"""Reports in the formats of other tools; one file per format."""
