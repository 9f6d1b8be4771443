"""Watching runs while they train: following, looking, remembering, telling and, where asked to, acting."""
