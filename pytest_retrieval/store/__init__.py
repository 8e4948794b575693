"""What outlives a run: contents, their statistics and the trees that name them, kept by digest.

Everything in a store can be made again from its source, so nothing in it is precious: whatever is missing,
damaged or of another version is made again, and a store that cannot be written is gone without.
"""
