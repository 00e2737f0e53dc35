import type { Json, JsonObject } from '../base/json/json.ts';
import type { ToolContext, ToolResult } from './tool.ts';

/**
 * The tools of one session, for all its agents: the built-in ones and those of MCP servers, with what they keep between
 * calls (shells, connections, caches). Custom tools are offered here too, and run by the client.
 */
export interface Toolbox {
  /** The tools that an agent may use by its definition. Unreachable servers are reported as problems; all other tools are offered. */
  offer(agent: ToolOwner): Promise<ToolOffer>;
  /** Releases the state of a thread, for example its shell. */
  closeThread(threadId: string): Promise<void>;
  close(): Promise<void>;
}

/** The fields of an agent that define its tools, as on the wire, checked by the route. */
export interface ToolOwner {
  readonly tools: readonly JsonObject[];
  readonly mcp_servers: readonly JsonObject[];
}

/** The tools of an agent, and why some are missing. */
export interface ToolOffer {
  /** The tools by the name that the model uses. */
  readonly tools: ReadonlyMap<string, OfferedTool>;
  readonly problems: readonly ToolProblem[];
}

/** A tool as the model sees it, and the function that runs it. */
export type OfferedTool = {
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** If false, the model does not see the tool, and a call is rejected. */
  readonly isEnabled: boolean;
} & (
  | {
      readonly kind: 'builtin';
      readonly name: string;
      readonly permission: 'allow' | 'ask';
      /** Whether the tool works on the files of the session, so that in a self-hosted environment its worker runs it. */
      readonly isSandboxed: boolean;
      run(input: Json, context: ToolContext): Promise<ToolResult>;
    }
  | {
      readonly kind: 'mcp';
      readonly name: string;
      readonly serverName: string;
      readonly permission: 'allow' | 'ask';
      run(input: Json, context: ToolContext): Promise<ToolResult>;
    }
  /** A custom tool, which the client runs. */
  | { readonly kind: 'custom'; readonly name: string }
);

/** Why the tools of an MCP server are missing. */
export interface ToolProblem {
  readonly type: 'mcp_connection_failed' | 'mcp_authentication_failed';
  readonly serverName: string;
  readonly message: string;
}
