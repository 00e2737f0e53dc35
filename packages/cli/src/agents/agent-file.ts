import type { AgentCreateParams, ToolParams } from '@fleetloom/protocol/managed-agents';

/** An agent as its definition file describes it; names of other agents are not resolved yet. */
export interface AgentFile {
  /** Path of the file, for messages. */
  readonly file: string;
  readonly name: string;
  readonly description: string | null;
  readonly system: string | null;
  /** Null: the default model of the command. */
  readonly model: AgentCreateParams['model'] | null;
  readonly tools: readonly ToolParams[];
  /** Names of the agents that this agent may delegate to, `all` others of the directory, or null if it is not a coordinator. */
  readonly roster: readonly string[] | 'all' | null;
  /** Fields of `POST /v1/agents` that are passed on unchanged. */
  readonly others: Pick<AgentCreateParams, 'mcp_servers' | 'skills' | 'metadata'>;
  /** Warnings about parts of the file that are ignored. */
  readonly notes: readonly string[];
}
