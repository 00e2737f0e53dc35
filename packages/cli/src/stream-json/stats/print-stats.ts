import type { Io } from '../../base/io.ts';
import { detectLook, drawingWidth } from '../../terminal/look.ts';
import { loadTextWidth } from '../../terminal/text-width.ts';
import { writeText } from '../../base/write-text.ts';
import { drawStats } from './draw-stats.ts';
import type { Stats } from './to-stats.ts';

/** Prints the table. */
export async function printStats(io: Io, stats: Stats): Promise<void> {
  await loadTextWidth();
  const lines = drawStats(stats, drawingWidth(io), detectLook(io));
  await writeText(io.stdout, lines.map((line) => `${line}\n`).join(''));
}
