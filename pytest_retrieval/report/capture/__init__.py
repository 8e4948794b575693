"""The file of ``--retrieval-context-packets``: a program's replies byte for byte, and who checks them."""
