"""One series in, what its curve really did out: a few hundred paths, which `questions/` asks."""
