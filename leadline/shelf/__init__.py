"""The shelf: one summary row a run, in sqlite or Postgres (docs/fleet.md)."""
