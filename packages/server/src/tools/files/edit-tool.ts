import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import type { Tool } from '../tool.ts';
import { ToolFailure, throwIfInterrupted } from '../tool-failure.ts';
import type { WorkspaceFiles } from './workspace-files.ts';

export interface EditToolOptions {
  readonly files: WorkspaceFiles;
  readonly bytesMax: number;
}

export function createEditTool({ files, bytesMax }: EditToolOptions): Tool {
  return defineTool({
    name: 'edit',
    description:
      'Replaces a piece of a text file of the workspace. old_string has to be there exactly once, unless replace_all is set.',
    input: z.object({
      file_path: z.string().min(1).describe('Path of the file, from the workspace on or absolute inside it'),
      old_string: z.string().min(1).describe('What is there, exactly, with its spaces and line ends'),
      new_string: z.string().describe('What comes in its place, literally'),
      replace_all: z.boolean().nullish().describe('Replaces it everywhere'),
    }),
    run: async (
      { file_path: path, old_string: old, new_string: next, replace_all: isAll },
      { openWorkspace, signal },
    ) => {
      throwIfInterrupted(signal);
      if (old === next) throw new ToolFailure('old_string and new_string are the same, so there is nothing to do');
      let count = 0;
      await files.change(await openWorkspace(), path, bytesMax, (content) => {
        // Split and join, because a replacement would give dollar signs a meaning.
        const parts = content.split(old);
        count = parts.length - 1;
        if (count === 0) throw new ToolFailure(`old_string is not in ${path}: read the file and copy it exactly`);
        if (count > 1 && isAll !== true) {
          throw new ToolFailure(`old_string is ${count} times in ${path}: add lines around it, or set replace_all`);
        }
        return parts.join(next);
      });
      return `Edited ${path}: ${count === 1 ? '1 place' : `${count} places`}`;
    },
  });
}
