"""repo@commit becomes a tree of text, read without a work tree."""
