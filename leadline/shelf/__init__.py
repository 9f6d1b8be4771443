"""The shelf: one summary row a run, with its reading beside it, in sqlite or Postgres (docs/fleet.md)."""
