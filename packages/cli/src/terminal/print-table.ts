import { cleanLine } from '@fleetloom/protocol/text';
import type { Io } from '../base/io.ts';
import { writeText } from '../base/write-text.ts';
import { detectLook } from './look.ts';
import { loadTextWidth, textWidth, truncateText } from './text-width.ts';

/** Prints a table with columns as wide as their content; on a terminal, the last column is cut at the end of the line. */
export async function printTable(io: Io, head: readonly string[], rows: readonly (readonly string[])[]): Promise<void> {
  await loadTextWidth();
  const look = detectLook(io);
  const clean = [head, ...rows].map((row) =>
    row.map((cell) => (cell.startsWith(' ') ? indent(cell) : cleanLine(cell))),
  );
  const widths = head.map((_, column) => clean.reduce((most, row) => Math.max(most, textWidth(row[column] ?? '')), 0));
  const lines = clean.map((row, index) => {
    const line = row
      .map((cell, column) =>
        column === head.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - textWidth(cell)),
      )
      .join('  ')
      .trimEnd();
    const cut =
      io.stdout.isTTY === true && io.stdout.columns
        ? truncateText(line, io.stdout.columns, look.glyphs.ellipsis)
        : line;
    return index === 0 ? look.paint(cut, 'dim') : cut;
  });
  await writeText(io.stdout, lines.map((line) => `${line}\n`).join(''));
}

/** Leading spaces are the indentation of a tree and are kept. */
function indent(cell: string): string {
  const blanks = cell.length - cell.trimStart().length;
  return ' '.repeat(blanks) + cleanLine(cell);
}
