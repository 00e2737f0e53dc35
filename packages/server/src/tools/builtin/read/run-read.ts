import type { FileHandle } from 'node:fs/promises';
import type { HostContext } from '../host-context.ts';
import { ToolFailure, throwIfInterrupted } from '../../tool-failure.ts';
import { LineRange } from './line-range.ts';
import { readUpTo } from '../files/read-up-to.ts';

/** The checked input of `read`. */
export interface ReadInput {
  readonly file_path: string;
  /** First line and last line. */
  readonly view_range?: readonly number[] | null | undefined;
}

/** Returns the text of a file, or some lines of it. */
export async function runRead(input: ReadInput, { files, workspace, limits, signal }: HostContext): Promise<string> {
  const { file_path: path, view_range: range } = input;
  const { fileReadBytesMax: bytesMax, fileScanBytesMax: scanBytesMax } = limits;
  return await files.read(workspace, path, async ({ handle, bytes }) => {
    if (bytes === 0) return '(the file is empty)';
    if (range !== undefined && range !== null) {
      const [first = 1, last = 0] = range;
      return await readRange(handle, { path, first, last, bytesMax, scanBytesMax, signal });
    }
    if (bytes > bytesMax) {
      const advice = 'read it in parts with view_range, e.g. [1, 500], or search it with grep';
      throw new ToolFailure(`${path} has ${bytes} bytes, and at most ${bytesMax} are read at once: ${advice}`);
    }
    return toText(await readUpTo(handle, Math.min(bytesMax, bytes)), path);
  });
}

interface RangeRequest {
  readonly path: string;
  readonly first: number;
  readonly last: number;
  readonly bytesMax: number;
  readonly scanBytesMax: number;
  readonly signal: AbortSignal;
}

async function readRange(handle: FileHandle, request: RangeRequest): Promise<string> {
  const { path, first, last, bytesMax } = request;
  if (last > 0 && last < first) throw new ToolFailure(`view_range ends at line ${last}, before it begins at ${first}`);
  const range = new LineRange({ first, last }, bytesMax);
  await scan(handle, range, request);
  if (range.isTooLong) {
    throw new ToolFailure(`lines ${first} to ${last} of ${path} have more than ${bytesMax} bytes: ask for fewer`);
  }
  const bytes = range.take();
  if (bytes === undefined) throw new ToolFailure(`${path} has ${range.lines} lines, so there is no line ${first}`);
  return toText(bytes, path);
}

/** Scans a file for the requested lines. Bounded, because lines are counted from the beginning, and a sparse file can have terabytes without a line. */
async function scan(handle: FileHandle, range: LineRange, request: RangeRequest): Promise<void> {
  const { path, first, last, scanBytesMax, signal } = request;
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let position = 0; !range.isDone; ) {
    throwIfInterrupted(signal);
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    range.add(chunk.subarray(0, bytesRead));
    if (position >= scanBytesMax && !range.isDone) {
      throw new ToolFailure(
        `lines ${first} to ${last} of ${path} do not end within its first ${scanBytesMax} bytes, ` +
          'and no more are looked at: use bash, e.g. with tail, sed or dd',
      );
    }
  }
}

const CHUNK_BYTES = 256 * 1024;

/** Bytes that are not UTF-8 are shown as �. A file with a NUL is binary. */
function toText(bytes: Buffer, path: string): string {
  if (bytes.includes(0)) throw new ToolFailure(`${path} is a binary file: look at it with bash, e.g. with file or xxd`);
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return text === '' ? '(an empty line)' : text;
}
