"""What the reading says of one topic as a whole, beside its findings."""
