"""The page of all runs: `leadline serve`."""
