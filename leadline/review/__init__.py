"""The loop that collects a reader's word: what to read, what the answer amounts to, where it is kept."""
