"""Whether to go on, stop, or go back: facts and probabilities, no words (docs/judgement.md)."""
