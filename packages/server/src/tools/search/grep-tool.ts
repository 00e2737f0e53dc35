import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import type { WorkspaceFiles } from '../files/workspace-files.ts';
import type { FindProgram } from '../find-program.ts';
import { createNoSandbox } from '../sandbox/no-sandbox.ts';
import type { SandboxState } from '../sandbox/sandbox.ts';
import type { Tool } from '../tool.ts';
import type { ToolLimits } from '../tool-limits.ts';
import { grepByRipgrep } from './grep-by-ripgrep.ts';
import { grepByWalking } from './grep-by-walking.ts';

export interface GrepToolOptions {
  readonly files: WorkspaceFiles;
  readonly sandbox: () => Promise<SandboxState>;
  readonly findProgram: FindProgram;
  readonly limits: ToolLimits;
}

/** What a search found, in lines of `path:number:text`. */
export interface GrepFound {
  readonly lines: string;
  readonly remarks: readonly string[];
}

export function createGrepTool({ files, sandbox, findProgram, limits }: GrepToolOptions): Tool {
  return defineTool({
    name: 'grep',
    description:
      'Searches the contents of files for a regular expression. Gives path, line number and line, with paths from the workspace on. ' +
      'Does not look into .git, node_modules and binary files.',
    input: z.object({
      pattern: z.string().min(1).describe('A regular expression, such as TODO|FIXME'),
      path: z.string().min(1).nullish().describe('The file or directory to search; the workspace if not given'),
    }),
    run: async ({ pattern, path }, { openWorkspace, signal }) => {
      const workspace = await openWorkspace();
      const found = await files.search(workspace, path ?? '.', async ({ directory, file }) => {
        const request = { directory, file, pattern, workspace, signal, limits };
        const ripgrep = await findProgram('rg');
        if (ripgrep === undefined) return await grepByWalking(request);
        const state = await sandbox();
        // In the sandbox a directory that becomes a link while ripgrep runs leads nowhere. Where there is none, no
        // command of an agent runs that could do such a thing, or it may read everything anyway.
        const place = state.type === 'ready' ? state.sandbox : createNoSandbox();
        return (await grepByRipgrep({ ...request, ripgrep, sandbox: place })) ?? (await grepByWalking(request));
      });
      const { lines, remarks } = found;
      return [lines === '' ? 'No matches found' : lines, ...remarks].join('\n');
    },
  });
}
