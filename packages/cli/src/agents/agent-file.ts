import type { AgentCreateParams, ToolParams } from '@fleetloom/protocol/managed-agents';

/** An agent as a file describes it, before others are known that it names. */
export interface AgentFile {
  /** Where it comes from, for messages. */
  readonly file: string;
  readonly name: string;
  readonly description: string | null;
  readonly system: string | null;
  /** Null: whatever the run uses. */
  readonly model: AgentCreateParams['model'] | null;
  readonly tools: readonly ToolParams[];
  /** Whom it delegates to by their names, `everybody` else in the directory, or null if it does not coordinate. */
  readonly members: readonly string[] | 'everybody' | null;
  /** Fields of the wire that are passed on as they are. */
  readonly others: Pick<AgentCreateParams, 'mcp_servers' | 'skills' | 'metadata'>;
  /** What the file says that is not used here. */
  readonly notes: readonly string[];
}
