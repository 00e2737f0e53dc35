import type { ResultBlock } from '../../../../base/content.ts';
import type { ToolState } from '../wire/events.ts';

/** The result of a call. An aborted command is `completed` for opencode, and so is one that failed. */
export function toResult({ status, output, exit }: ToolState): ToolResult {
  const isError = status === 'error' || isAborted(output) || (exit !== null && exit !== 0);
  return { content: output === '' ? [] : [{ type: 'text', text: output }], isError };
}

/** What a call gave. */
export interface ToolResult {
  readonly content: readonly ResultBlock[];
  readonly isError: boolean;
}

/** Opencode adds what it knows of a command behind its output, in an element of its own. */
function isAborted(output: string): boolean {
  const at = output.lastIndexOf('<shell_metadata>');
  return at >= 0 && output.slice(at).includes('User aborted the command');
}
