import { z } from 'zod';
import { type HostTool, hostTool } from '../built-in-tool.ts';
import { filePath } from '../files/file-path.ts';
import type { WriteInput } from './run-write.ts';

/** `write`: replaces a file as a whole. */
export const writeTool: HostTool<WriteInput> = hostTool('write', () => ({
  description:
    'Writes a text file of the workspace. Replaces what is there, and makes the directories that are missing.',
  input: z.object({
    file_path: filePath(),
    content: z.string().describe('What the file has afterwards'),
  }),
}));
