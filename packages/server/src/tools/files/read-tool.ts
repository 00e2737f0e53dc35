import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import type { Tool } from '../tool.ts';
import { ToolFailure, throwIfInterrupted } from '../tool-failure.ts';
import { LineRange } from './line-range.ts';
import type { WorkspaceFiles } from './workspace-files.ts';

export interface ReadToolOptions {
  readonly files: WorkspaceFiles;
  readonly bytesMax: number;
}

export function createReadTool({ files, bytesMax }: ReadToolOptions): Tool {
  return defineTool({
    name: 'read',
    description:
      'Reads a text file of the workspace. Long files have to be read in parts: give view_range as [first line, last line], ' +
      'counted from 1, both included; a last line of 0 or less means the end of the file.',
    input: z.object({
      file_path: z.string().min(1).describe('Path of the file, from the workspace on or absolute inside it'),
      view_range: z
        .array(z.int())
        .length(2)
        .nullish()
        .describe('[first line, last line], counted from 1, both included; a last line of 0 or less means to the end'),
    }),
    run: async ({ file_path: path, view_range: range }, { openWorkspace, signal }) => {
      return await files.read(await openWorkspace(), path, async ({ handle, bytes }) => {
        if (bytes === 0) return '(the file is empty)';
        const [first = 1, last = 0] = range ?? [];
        if (range !== undefined && range !== null) return await readRange(handle, path, { first, last }, signal);
        if (bytes > bytesMax) {
          const advice = 'read it in parts with view_range, e.g. [1, 500], or search it with grep';
          throw new ToolFailure(`${path} has ${bytes} bytes, and at most ${bytesMax} are read at once: ${advice}`);
        }
        return toText(await readUpTo(handle, bytesMax), path);
      });
    },
  });

  async function readRange(
    handle: FileHandle,
    path: string,
    asked: { first: number; last: number },
    signal: AbortSignal,
  ): Promise<string> {
    const range = new LineRange(asked, bytesMax);
    for await (const chunk of handle.createReadStream({ autoClose: false, start: 0 })) {
      throwIfInterrupted(signal);
      // Without an encoding a stream gives buffers, whatever its type says.
      range.add(chunk as Buffer);
      if (range.isDone) break;
    }
    const { isTooLong, lines } = range;
    if (isTooLong) {
      throw new ToolFailure(
        `lines ${asked.first} to ${asked.last} of ${path} have more than ${bytesMax} bytes: ask for fewer`,
      );
    }
    const bytes = range.take();
    if (bytes === undefined) {
      throw new ToolFailure(
        asked.last > 0 && asked.last < asked.first
          ? `view_range ends at line ${asked.last}, before it begins at ${asked.first}`
          : `${path} has ${lines} lines, so there is no line ${asked.first}`,
      );
    }
    return toText(bytes, path);
  }
}

/** A file may grow between being asked how long it is and being read. */
async function readUpTo(handle: FileHandle, bytesMax: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytesMax);
  let filled = 0;
  while (filled < bytesMax) {
    const { bytesRead } = await handle.read(buffer, filled, bytesMax - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Bytes that are no UTF-8 are shown as �. With a NUL among them it is no text at all. */
function toText(bytes: Buffer, path: string): string {
  if (bytes.includes(0)) throw new ToolFailure(`${path} is a binary file: look at it with bash, e.g. with file or xxd`);
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return text === '' ? '(an empty line)' : text;
}
