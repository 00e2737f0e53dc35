import { programLimits } from '../../limits.ts';
import type { WrittenFile } from '../../program.ts';
import { record, text } from '../../lines/values.ts';

/**
 * The file that an `Edit` or `NotebookEdit` call has changed, from the structured result on its line. The input of a `Write` call has the
 * whole content already. Undefined if the line does not have the content, or if it is too large for the log.
 */
export function toEditedFile(structured: unknown): WrittenFile | undefined {
  const result = record(structured);
  const file = result === undefined ? undefined : (toNotebook(result) ?? toEdited(result));
  if (file === undefined || Buffer.byteLength(file.content) > programLimits.programFileBytesMax) return undefined;
  return file;
}

function toNotebook(result: Record<string, unknown>): WrittenFile | undefined {
  const path = text(result['notebook_path']);
  const content = text(result['updated_file']);
  return path === undefined || content === undefined || content === '' ? undefined : { path, content };
}

function toEdited(result: Record<string, unknown>): WrittenFile | undefined {
  const { filePath: path, originalFile: before, oldString: old, newString: replacement } = result;
  if (!isText(path) || !isText(before) || !isText(old) || !isText(replacement)) return undefined;
  // An empty `oldString` means a new file.
  if (old === '') return { path, content: replacement };
  if (!before.includes(old)) return undefined;
  // A function, because `$` in the replacement is a character and not a pattern.
  const content =
    result['replaceAll'] === true ? before.replaceAll(old, () => replacement) : before.replace(old, () => replacement);
  return { path, content };
}

/** Accepts an empty text too: an edit may remove text. */
function isText(value: unknown): value is string {
  return typeof value === 'string';
}
