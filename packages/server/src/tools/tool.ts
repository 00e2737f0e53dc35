import type { ResultBlock } from '../base/content.ts';
import type { Json, JsonObject } from '../base/json/json.ts';

/** A tool that runs in the server or in its tool host. */
export interface Tool {
  readonly name: string;
  /** The description that the model receives. */
  readonly description: string;
  /** A JSON schema of an object. */
  readonly inputSchema: JsonObject;
  /**
   * Runs the tool. Never rejects: a failure is a result with `isError`, in words that the model can act on. When the
   * signal is aborted, the tool stops its work and its processes, and settles soon.
   */
  run(input: Json, context: ToolContext): Promise<ToolResult>;
}

/** The session, thread and workspace of a tool call. */
export interface ToolContext {
  readonly sessionId: string;
  readonly threadId: string;
  /**
   * The directory that all agents of the session share. Absolute, existing, without symbolic links in it. Where several
   * nodes share the sessions, one that has asked for it stays with this node: only who works with files asks.
   */
  readonly openWorkspace: () => Promise<string>;
  /** The thread that owns the directory as its worktree; null for the workspace of the session. */
  readonly worktreeOwner?: string | null | undefined;
  readonly signal: AbortSignal;
  /** Whether the thread has run commands before, in a shell that may be gone. */
  readonly hadShell?: boolean | undefined;
}

export interface ToolResult {
  readonly content: readonly ResultBlock[];
  readonly isError: boolean;
}

/** A result with one block of text. */
export function textResult(text: string, { isError = false } = {}): ToolResult {
  return { content: [{ type: 'text', text }], isError };
}
