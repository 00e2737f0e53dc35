import { z } from 'zod';
import { type HostTool, hostTool } from '../built-in-tool.ts';
import { filePath } from '../files/file-path.ts';
import type { EditInput } from './run-edit.ts';

/** `edit`: replaces a piece of a file. */
export const editTool: HostTool<EditInput> = hostTool('edit', () => ({
  description:
    'Replaces a piece of a text file of the workspace. old_string has to be there exactly once, unless replace_all is set.',
  input: z.object({
    file_path: filePath(),
    old_string: z.string().min(1).describe('What is there, exactly, with its spaces and line ends'),
    new_string: z.string().describe('What comes in its place, literally'),
    replace_all: z.boolean().nullish().describe('Replaces it everywhere'),
  }),
}));
