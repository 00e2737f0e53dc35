import type { ResultBlock } from '../../../../base/content.ts';
import type { ToolState } from '../wire/events.ts';

/** The result of a call. opencode reports aborted and failed commands as `completed`. */
export function toResult({ status, output, exit }: ToolState): ToolResult {
  const isError = status === 'error' || isAborted(output) || (exit !== null && exit !== 0);
  return { content: output === '' ? [] : [{ type: 'text', text: output }], isError };
}

/** The result of a call. */
export interface ToolResult {
  readonly content: readonly ResultBlock[];
  readonly isError: boolean;
}

/** Whether a command was aborted: opencode adds an element with its metadata after the output. */
function isAborted(output: string): boolean {
  const at = output.lastIndexOf('<shell_metadata>');
  return at >= 0 && output.slice(at).includes('User aborted the command');
}
