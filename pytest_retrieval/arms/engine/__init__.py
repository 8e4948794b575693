"""Any code-search tool, by its description: called once a query, kept running, or over MCP."""
