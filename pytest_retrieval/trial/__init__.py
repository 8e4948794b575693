"""The confidently-wrong trial: one agent, one frozen task set, several contexts, and what it committed to."""
