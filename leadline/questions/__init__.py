"""Questions that can be asked of any curve, each answered in one place."""
