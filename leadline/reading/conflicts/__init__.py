"""Other processes beside the training, on its own clock."""
