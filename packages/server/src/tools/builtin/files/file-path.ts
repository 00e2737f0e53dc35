import { z } from 'zod';

/** The `file_path` of the tools that work on one file. */
export function filePath(): z.ZodString {
  return z.string().min(1).describe('Path of the file, from the workspace on or absolute inside it');
}
