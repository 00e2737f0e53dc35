import type { HostContext } from '../host-context.ts';
import { ToolFailure, throwIfInterrupted } from '../../tool-failure.ts';

/** The checked input of `edit`. */
export interface EditInput {
  readonly file_path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | null | undefined;
}

/** Replaces a text in a file, once or at all places. */
export async function runEdit(input: EditInput, { files, workspace, limits, signal }: HostContext): Promise<string> {
  const { file_path: path, old_string: old, new_string: next, replace_all: isAll } = input;
  throwIfInterrupted(signal);
  if (old === next) throw new ToolFailure('old_string and new_string are the same, so there is nothing to do');
  let count = 0;
  await files.change(workspace, path, limits.fileEditBytesMax, (content) => {
    count = countPlaces(content, old);
    if (count === 0) throw new ToolFailure(`old_string is not in ${path}: read the file and copy it exactly`);
    if (count > 1 && isAll !== true) {
      throw new ToolFailure(`old_string is ${count} times in ${path}: add lines around it, or set replace_all`);
    }
    return replaceAll(content, { path, old, next, count, bytesMax: limits.fileEditBytesMax });
  });
  return `Edited ${path}: ${count === 1 ? '1 place' : `${count} places`}`;
}

/** Counts occurrences in bytes, which in UTF-8 gives the same result as in characters with a fraction of the memory. */
function countPlaces(content: Buffer, old: string): number {
  const wanted = Buffer.from(old);
  // Half of a surrogate pair cannot be encoded: it would match the replacement character.
  if (wanted.toString() !== old) return 0;
  let count = 0;
  for (let at = content.indexOf(wanted); at !== -1; at = content.indexOf(wanted, at + wanted.length)) count++;
  return count;
}

interface Replacement {
  readonly path: string;
  readonly old: string;
  readonly next: string;
  readonly count: number;
  readonly bytesMax: number;
}

function replaceAll(content: Buffer, { path, old, next, count, bytesMax }: Replacement): Buffer {
  const [wanted, replacement] = [Buffer.from(old), Buffer.from(next)];
  // Computed before the content is built: replacing a million bytes by a thousand bytes each takes a gigabyte.
  const bytes = content.length + count * (replacement.length - wanted.length);
  if (bytes > bytesMax) {
    throw new ToolFailure(`${path} would have ${bytes} bytes, and only ${bytesMax} can be edited: use bash`);
  }
  const result = Buffer.allocUnsafeSlow(bytes);
  let from = 0;
  let to = 0;
  for (let at = content.indexOf(wanted); at !== -1; at = content.indexOf(wanted, from)) {
    to += content.copy(result, to, from, at);
    to += replacement.copy(result, to);
    from = at + wanted.length;
  }
  content.copy(result, to, from);
  return result;
}
