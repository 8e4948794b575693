"""One file per arm, named as the user types it; all behind the same contract."""
