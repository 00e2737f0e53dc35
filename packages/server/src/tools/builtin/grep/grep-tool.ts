import { z } from 'zod';
import { type HostTool, hostTool } from '../built-in-tool.ts';
import type { GrepInput } from './run-grep.ts';

/** `grep`: searches the contents of files. */
export const grepTool: HostTool<GrepInput> = hostTool('grep', ({ grepPatternCharsMax }) => ({
  description:
    'Searches the contents of files for a regular expression. Gives path, line number and line, with paths from the workspace on. ' +
    'Does not look into .git, node_modules and binary files.',
  input: z.object({
    pattern: z.string().min(1).max(grepPatternCharsMax).describe('A regular expression, such as TODO|FIXME'),
    path: z.string().min(1).nullish().describe('The file or directory to search; the workspace if not given'),
  }),
}));
