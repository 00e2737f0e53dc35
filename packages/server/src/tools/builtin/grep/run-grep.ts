import type { HostContext } from '../host-context.ts';
import { grepByRipgrep } from './grep-by-ripgrep.ts';
import { grepByWalking } from './grep-by-walking.ts';
import type { GrepRequest } from './grep-request.ts';

/** The checked input of `grep`. */
export interface GrepInput {
  readonly pattern: string;
  readonly path?: string | null | undefined;
}

/** Searches the contents of files: with ripgrep where it runs, otherwise without. */
export async function runGrep(input: GrepInput, context: HostContext): Promise<string> {
  const { files, workspace, programs, limits, signal } = context;
  const { pattern, path } = input;
  const { lines, remarks } = await files.search(workspace, path ?? '.', async ({ directory, file }) => {
    const request: GrepRequest = { directory, file, pattern, workspace, signal, limits };
    const { ripgrep } = programs;
    // In the sandbox, a directory that is replaced by a link while ripgrep runs cannot lead outside. Without a sandbox, either no command
    // of an agent runs that could replace it, or commands may read everything anyway.
    const found = ripgrep === undefined ? undefined : await grepByRipgrep(ripgrep, request);
    return found ?? (await grepByWalking(request));
  });
  return [lines === '' ? 'No matches found' : lines, ...remarks].join('\n');
}
