"""The tests of starting programs and of what they leave behind."""
