"""The commands of ``pytest-retrieval``: one file each, named as the user types it.

A command is a module with ``add_parser(commands)``, which sets ``command``: a function of the parsed options
and of the words left over that returns the exit code. It opens the rooms below when it is called, not before.
"""
