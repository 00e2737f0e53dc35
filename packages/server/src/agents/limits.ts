/** Numbers that bound agent definitions. Each has a test at its edge. */
export const agentLimits = {
  /**
   * The agent of a session with its roster spelled out: an agent and 20 members have room for the longest system prompts. Creating
   * a session writes it several times, and each change of the session again.
   */
  sessionAgentBytesMax: 2.5 * 1024 * 1024,
  /** Tools of one agent, over all its toolsets. */
  agentToolsMax: 256,
  /** MCP servers of one agent. */
  mcpServersMax: 20,
  /** Agents in one roster. */
  rosterMembersMax: 20,
} as const;
