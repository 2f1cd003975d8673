"""How tools, probes and stand-in providers are reached: HTTP, MCP, commands, Python, SQLite and files."""
