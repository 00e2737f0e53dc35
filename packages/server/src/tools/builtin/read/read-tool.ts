import { z } from 'zod';
import { type HostTool, hostTool } from '../built-in-tool.ts';
import { filePath } from '../files/file-path.ts';
import type { ReadInput } from './run-read.ts';

/** `read`: returns the text of a file, or some of its lines. */
export const readTool: HostTool<ReadInput> = hostTool('read', () => ({
  description:
    'Reads a text file of the workspace. Long files have to be read in parts: give view_range as [first line, last line], ' +
    'counted from 1, both included; a last line of 0 or less means the end of the file.',
  input: z.object({
    file_path: filePath(),
    view_range: z
      .array(z.int())
      .length(2)
      .nullish()
      .describe('[first line, last line], counted from 1, both included; a last line of 0 or less means to the end'),
  }),
}));
