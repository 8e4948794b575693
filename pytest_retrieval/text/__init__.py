"""What a text is made of: tokens and identifiers, on bytes, with ASCII classes."""
