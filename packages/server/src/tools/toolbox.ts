import type { Json, JsonObject } from '../base/json/json.ts';
import type { ToolContext, ToolResult } from './tool.ts';

/**
 * The tools of one session, for all its agents: the built-in ones and those of MCP servers, with what they keep between
 * calls (shells, connections, caches). Custom tools are offered here too, and run by the client.
 */
export interface Toolbox {
  /** What an agent may use, as its definition says. Servers that cannot be reached are problems, and the rest is offered. */
  offer(agent: ToolOwner): Promise<ToolOffer>;
  /** Lets go of everything a thread kept, e.g. its shell. */
  closeThread(threadId: string): Promise<void>;
  close(): Promise<void>;
}

/** The parts of an agent that say what it may use, as the wire has them and the door has checked them. */
export interface ToolOwner {
  readonly tools: readonly JsonObject[];
  readonly mcp_servers: readonly JsonObject[];
}

/** The tools of an agent, and why some are missing. */
export interface ToolOffer {
  /** By the name that the model uses. */
  readonly tools: ReadonlyMap<string, OfferedTool>;
  readonly problems: readonly ToolProblem[];
}

/** A tool as the model sees it, and how it is run. */
export type OfferedTool = {
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** False: the model does not see the tool, and a call is refused. */
  readonly isEnabled: boolean;
} & (
  | {
      readonly kind: 'builtin';
      readonly name: string;
      readonly permission: 'allow' | 'ask';
      /** Works on the files of the session, so in a self-hosted environment its worker runs it. */
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
  /** The client runs it. */
  | { readonly kind: 'custom'; readonly name: string }
);

/** Why the tools of an MCP server are missing. */
export interface ToolProblem {
  readonly type: 'mcp_connection_failed' | 'mcp_authentication_failed';
  readonly serverName: string;
  readonly message: string;
}
