"""The suite swebench."""
