"""One file per family, one function per measure; no file formats, no pytest."""
