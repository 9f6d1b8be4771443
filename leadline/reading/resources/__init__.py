"""Where the time, the power and the memory of a step go."""
