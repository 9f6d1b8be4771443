"""Several runs on one clock: which differs, from where on, beyond seed noise."""
