"""Intervals and order statistics over plain numbers."""
