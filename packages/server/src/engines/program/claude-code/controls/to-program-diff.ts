import { programLimits } from '../../limits.ts';
import type { FileDiff, ProgramDiff } from '../../program-controls.ts';
import { number, record, records, text } from '../../lines/values.ts';

/** Reads the response to `get_workspace_diff`. */
export function toProgramDiff(response: Record<string, unknown>): ProgramDiff {
  const diff = record(response['diff']);
  if (diff === undefined) {
    const reason = text(response['noDiffReason']) ?? 'no diff';
    return { type: 'diff', files: [], filesOmitted: 0, reason };
  }
  const patches = new Map(records(diff['hunks']).map((file) => [text(file['path']), toPatch(records(file['hunks']))]));
  let bytesLeft = programLimits.programDiffBytesMax;
  const files = records(diff['perFileStats']).map((file): FileDiff => {
    const path = text(file['path']) ?? '';
    const patch = patches.get(path) ?? null;
    bytesLeft -= patch === null ? 0 : Buffer.byteLength(patch);
    return {
      path,
      status: text(file['status']) ?? 'modified',
      added: number(file['added']) ?? 0,
      removed: number(file['removed']) ?? 0,
      isBinary: file['isBinary'] === true,
      patch: bytesLeft < 0 ? null : patch,
    };
  });
  return { type: 'diff', files, filesOmitted: number(record(diff['omitted'])?.['files']) ?? 0, reason: null };
}

function toPatch(hunks: readonly Record<string, unknown>[]): string {
  return hunks
    .flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${number(oldStart) ?? 0},${number(oldLines) ?? 0} +${number(newStart) ?? 0},${number(newLines) ?? 0} @@`,
      ...(Array.isArray(lines) ? lines.map(String) : []),
    ])
    .join('\n');
}
