"""The skill for coding agents, as it is installed: SKILL.md beside this file."""
