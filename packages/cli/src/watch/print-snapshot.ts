import type { SessionSlots } from '@fleetloom/protocol/fleet';
import { drawSummary, drawThread, toInputLine } from '../fleet/draw-threads.ts';
import { toThreadRows } from '../fleet/thread-rows.ts';
import type { Io } from '../io.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { detectLook, drawingWidth } from '../terminal/look.ts';
import { paintRow, type Row, span } from '../terminal/row.ts';
import { loadTextWidth } from '../terminal/text-width.ts';
import { writeText } from '../write-text.ts';

/** How a session is now: its threads, what they took, and what waits for somebody. */
export async function printSnapshot(io: Io, sessionId: string, slots: SessionSlots): Promise<void> {
  await loadTextWidth();
  const look = detectLook(io);
  const { glyphs } = look;
  const threads = toThreadRows(slots.runs);
  const drawing = { width: drawingWidth(io), glyphs, nowMs: io.timers.now() };
  const rows: Row[] = [
    { left: [span('fleetloom', 'brand'), span(`  ${sessionId}`, 'dim')], right: [] },
    ...threads.map((thread) => drawThread(thread, drawing)),
    ...threads.flatMap(({ approvals }) =>
      approvals.map(({ agent, tool, input, toolUseId }): Row => {
        const asks = span(`${glyphs.needsYou} ${toolUseId}  `, 'attention');
        return { left: [asks, span(cleanLine(`${agent}  ${tool}: ${toInputLine(input)}`))], right: [] };
      }),
    ),
    { left: drawSummary(threads, slots.totals.usage, drawing), right: [] },
  ];
  await writeText(io.stdout, rows.map((row) => `${paintRow(row, drawing.width, look)}\n`).join(''));
}
