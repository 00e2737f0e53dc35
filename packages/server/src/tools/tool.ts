import type { ResultBlock } from '../base/content.ts';
import type { Json, JsonObject } from '../base/json.ts';

/** Something an agent can do. */
export interface Tool {
  readonly name: string;
  /** What the model is told about it. */
  readonly description: string;
  /** A JSON schema of an object. */
  readonly inputSchema: JsonObject;
  /**
   * Does it. Never rejects: whatever goes wrong is a result with `isError`, in words that the model can act on. When the
   * signal comes it stops what it does, its processes included, and settles soon.
   */
  run(input: Json, context: ToolContext): Promise<ToolResult>;
}

/** Where and for whom a tool works. */
export interface ToolContext {
  readonly sessionId: string;
  readonly threadId: string;
  /**
   * The directory that all agents of the session share. Absolute, existing, without symbolic links in it. Where several
   * nodes share the sessions, one that has asked for it stays with this node: only who works with files asks.
   */
  readonly openWorkspace: () => Promise<string>;
  readonly signal: AbortSignal;
  /** The thread has run commands before, in a shell that may be gone by now. */
  readonly hadShell?: boolean | undefined;
}

export interface ToolResult {
  readonly content: readonly ResultBlock[];
  readonly isError: boolean;
}

/** A result in plain words. */
export function textResult(text: string, { isError = false } = {}): ToolResult {
  return { content: [{ type: 'text', text }], isError };
}
