"""Topics as a whole, beside their findings."""
