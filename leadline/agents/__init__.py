"""For coding agents: an MCP server that reads runs and answers in few tokens (docs/agents.md)."""
