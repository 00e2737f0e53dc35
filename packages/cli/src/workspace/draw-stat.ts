import type { FileCounts, WorkspaceFile } from '@fleetloom/protocol/fleet';
import { limits } from '../base/limits.ts';
import type { Paint } from '../terminal/palette.ts';
import { quotePath } from './quote-path.ts';

/** How files are drawn. */
export interface StatDrawing {
  readonly paint: Paint;
  readonly width: number;
  /** How many files are listed. */
  readonly filesMax?: number;
}

/** Files with their changed lines, as `git diff --stat` shows them, and the totals below. */
export function drawStat(
  changes: FileCounts & { readonly files: readonly WorkspaceFile[] },
  { paint, width, filesMax = limits.statFilesMax }: StatDrawing,
): readonly string[] {
  const { files_count: count } = changes;
  const files = changes.files.slice(0, filesMax);
  const names = files.map(({ path }) => quotePath(path));
  const nameWidth = Math.min(Math.max(0, ...names.map((name) => name.length)), Math.max(10, width - 30));
  const most = Math.max(1, ...files.map((file) => (file.added ?? 0) + (file.removed ?? 0)));
  const scale = Math.min(1, (width - nameWidth - 16) / most);
  const lines = files.map((file, at) => {
    const name = fit(names[at]!, nameWidth);
    return ` ${MARKS[file.status] ?? ' '} ${name} | ${drawLines(file, scale, paint)}`;
  });
  const left = count - files.length;
  return [...lines, ...(left > 0 ? [` … and ${left} more`] : []), ` ${describeCounts(changes)}`];
}

/** `3 files changed, 4 insertions(+), 1 deletion(-)`. */
export function describeCounts({ files_count: files, lines_added: added, lines_removed: removed }: FileCounts): string {
  const some = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
  if (files === 0) return 'no files changed';
  return `${some(files, 'file')} changed, ${some(added, 'insertion')}(+), ${some(removed, 'deletion')}(-)`;
}

const MARKS: Readonly<Record<string, string>> = { added: 'A', modified: 'M', deleted: 'D' };

function drawLines({ added, removed }: WorkspaceFile, scale: number, paint: Paint): string {
  if (added === null || removed === null) return 'binary';
  const draw = (count: number, mark: string) => mark.repeat(count === 0 ? 0 : Math.max(1, Math.round(count * scale)));
  const bars = `${paint(draw(added, '+'), 'ok')}${paint(draw(removed, '-'), 'failed')}`;
  return `${String(added + removed).padStart(4)} ${bars}`.trimEnd();
}

/** Cuts a path at its start, because its end is the most informative part. */
function fit(name: string, width: number): string {
  return name.length <= width ? name.padEnd(width) : `…${name.slice(name.length - width + 1)}`;
}
