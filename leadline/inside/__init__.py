"""What runs inside a training process: it appends to a journal, and obeys where it was told to.

Nothing here imports more than the standard library, raises into the training loop, or waits for anything. Looking at
the run is the business of another process (sidecar.py).
"""
