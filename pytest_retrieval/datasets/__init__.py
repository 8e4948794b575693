"""Samples come in: files of several shapes become :class:`~pytest_retrieval.model.Sample` values."""
