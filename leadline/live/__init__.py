"""Watch runs while they train: follow, check, remember, send alerts and, if asked, act."""
