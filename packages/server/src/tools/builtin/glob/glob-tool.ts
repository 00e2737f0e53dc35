import { z } from 'zod';
import { type HostTool, hostTool } from '../built-in-tool.ts';
import type { GlobInput } from './run-glob.ts';

/** `glob`: finds files by their names. */
export const globTool: HostTool<GlobInput> = hostTool('glob', ({ globResultsMax, globPatternCharsMax }) => ({
  description:
    'Finds files by their names, the newest first, with paths from the workspace on. Knows *, **, ?, [abc] and {a,b}. ' +
    `Gives at most ${globResultsMax}, and does not look into .git and node_modules.`,
  input: z.object({
    pattern: z.string().min(1).max(globPatternCharsMax).describe('Such as **/*.ts or src/*.{js,json}'),
    path: z.string().min(1).nullish().describe('The directory to look in; the workspace if not given'),
  }),
}));
