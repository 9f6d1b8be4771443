"""What several findings share: the view, and what is asked of a run once."""
