import type { HostContext } from '../host/program/host-context.ts';
import type { GrepInput } from '../host/contract/inputs.ts';
import type { Directory } from '../files/directory.ts';
import type { ToolLimits } from '../tool-limits.ts';
import { grepByRipgrep } from './grep-by-ripgrep.ts';
import { grepByWalking } from './grep-by-walking.ts';

export interface GrepRequest {
  readonly directory: Directory;
  /** Searches this one only. */
  readonly file: string | undefined;
  readonly pattern: string;
  readonly workspace: string;
  readonly signal: AbortSignal;
  readonly limits: ToolLimits;
}

/** What a search found, in lines of `path:number:text`. */
export interface GrepFound {
  readonly lines: string;
  readonly remarks: readonly string[];
}

/** Searches the contents of files: with ripgrep where it runs, otherwise without. */
export async function runGrep(input: GrepInput, context: HostContext): Promise<string> {
  const { files, workspace, programs, limits, signal } = context;
  const { pattern, path } = input;
  const { lines, remarks } = await files.search(workspace, path ?? '.', async ({ directory, file }) => {
    const request: GrepRequest = { directory, file, pattern, workspace, signal, limits };
    const { ripgrep } = programs;
    // In the sandbox a directory that becomes a link while ripgrep runs leads nowhere. Where there is none, no command
    // of an agent runs that could do such a thing, or it may read everything anyway.
    const found = ripgrep === undefined ? undefined : await grepByRipgrep(ripgrep, request);
    return found ?? (await grepByWalking(request));
  });
  return [lines === '' ? 'No matches found' : lines, ...remarks].join('\n');
}
