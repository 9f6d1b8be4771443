"""The part that runs inside a training process: it appends to a journal, and stops the training if it was allowed to.

Nothing here imports more than the standard library, raises into the training loop, or waits for anything. Checking the
run is up to another process (sidecar.py).
"""
