import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import type { Tool } from '../tool.ts';
import { throwIfInterrupted } from '../tool-failure.ts';
import type { WorkspaceFiles } from './workspace-files.ts';

export function createWriteTool({ files }: { readonly files: WorkspaceFiles }): Tool {
  return defineTool({
    name: 'write',
    description:
      'Writes a text file of the workspace. Replaces what is there, and makes the directories that are missing.',
    input: z.object({
      file_path: z.string().min(1).describe('Path of the file, from the workspace on or absolute inside it'),
      content: z.string().describe('What the file has afterwards'),
    }),
    run: async ({ file_path: path, content }, { openWorkspace, signal }) => {
      throwIfInterrupted(signal);
      await files.write(await openWorkspace(), path, content);
      return `Wrote ${Buffer.byteLength(content)} bytes to ${path}`;
    },
  });
}
