import type { Io } from '../../base/io.ts';
import { detectLook, drawingWidth } from '../../terminal/look.ts';
import { paintRow } from '../../terminal/row.ts';
import { loadTextWidth } from '../../terminal/text-width.ts';
import { FINAL_DETAILS } from '../tree/detail.ts';
import { drawTitle } from '../tree/draw-overview.ts';
import { drawTotals } from '../tree/draw-totals.ts';
import { writeText } from '../../base/write-text.ts';
import { drawTranscript } from './draw-transcript.ts';
import type { Transcript } from './transcript.ts';

/** Prints the whole run in pieces, at the pace of the reader. */
export async function printTranscript(io: Io, transcript: Transcript): Promise<void> {
  await loadTextWidth();
  const look = detectLook(io);
  const width = drawingWidth(io);
  const [detail] = FINAL_DETAILS;
  if (!detail) return;
  const drawing = { width, glyphs: look.glyphs, detail };
  const paint = (row: Parameters<typeof paintRow>[0]) => `${paintRow(row, width, look)}\n`;
  let text = `${paint(drawTitle(transcript.overview, drawing))}\n`;
  for (const row of drawTranscript(transcript, drawing)) {
    text += paint(row);
    if (text.length < WRITE_CHARS) continue;
    await writeText(io.stdout, text);
    text = '';
  }
  await writeText(io.stdout, `${text}\n${paint(drawTotals(transcript.overview, drawing))}`);
}

const WRITE_CHARS = 65_536;
