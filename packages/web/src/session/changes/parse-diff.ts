/** A row of a diff. The numbers are line numbers before and after the change. */
export type DiffRow =
  | { readonly type: 'hunk'; readonly text: string }
  | { readonly type: 'same'; readonly before: number; readonly after: number; readonly text: string }
  | { readonly type: 'removed'; readonly before: number; readonly text: string }
  | { readonly type: 'added'; readonly after: number; readonly text: string }
  | { readonly type: 'note'; readonly text: string };

/** A row of the side-by-side view: a line on each side, or one row across both. */
export type SidesRow =
  | { readonly type: 'whole'; readonly row: Extract<DiffRow, { type: 'hunk' | 'note' }> }
  | { readonly type: 'sides'; readonly left: LineRow | undefined; readonly right: LineRow | undefined };

type LineRow = Exclude<DiffRow, { type: 'hunk' | 'note' }>;

/** Parses the unified diff of one file. Lines are counted by the header of their hunk, because content may look like a header. */
export function parseDiff(diff: string): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  let [before, after, beforeLeft, afterLeft] = [0, 0, 0, 0];
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) {
    const text = line.slice(1);
    if (line.startsWith('\\')) {
      if (rows.length > 0) rows.push({ type: 'note', text: 'No newline at the end of the file' });
    } else if (beforeLeft > 0 || afterLeft > 0) {
      if (line.startsWith('+')) {
        rows.push({ type: 'added', after: after++, text });
        afterLeft -= 1;
      } else if (line.startsWith('-')) {
        rows.push({ type: 'removed', before: before++, text });
        beforeLeft -= 1;
      } else {
        rows.push({ type: 'same', before: before++, after: after++, text });
        beforeLeft -= 1;
        afterLeft -= 1;
      }
    } else {
      const hunk = HUNK.exec(line);
      if (hunk === null) continue;
      [before, after] = [Number(hunk[1]), Number(hunk[3])];
      [beforeLeft, afterLeft] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
      rows.push({ type: 'hunk', text: line });
    }
  }
  return rows;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Puts removed lines beside the added lines that follow them. */
export function toSides(rows: readonly DiffRow[]): readonly SidesRow[] {
  const sides: SidesRow[] = [];
  let [removed, added]: [LineRow[], LineRow[]] = [[], []];
  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++)
      sides.push({ type: 'sides', left: removed[index], right: added[index] });
    [removed, added] = [[], []];
  };
  for (const row of rows) {
    if (row.type === 'removed' && added.length > 0) flush();
    if (row.type === 'removed') removed.push(row);
    else if (row.type === 'added') added.push(row);
    else {
      flush();
      sides.push(row.type === 'same' ? { type: 'sides', left: row, right: row } : { type: 'whole', row });
    }
  }
  flush();
  return sides;
}
