"""Descriptions that ship, each ``engine:NAME``, and the two scripts that they call."""
