"""Reviews: what to read of a run, what an answer or grades amount to, and where reviews are kept."""
