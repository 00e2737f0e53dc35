import { drawSummary, drawThread, toInputLine } from '../fleet/draw-threads.ts';
import { toApprovalLines } from '../fleet/input-lines.ts';
import { toAnswerCommand } from '../fleet/read-open.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { detectLook, drawingWidth } from '../terminal/look.ts';
import { paintRow, type Row, span } from '../terminal/row.ts';
import { loadTextWidth } from '../terminal/text-width.ts';
import { writeText } from '../write-text.ts';
import type { WatchModel } from './watch-model.ts';

/** How a session is now: its threads, what they took, and what waits for somebody. */
export async function printSnapshot(io: Io, model: WatchModel, nowMs: number): Promise<void> {
  await loadTextWidth();
  const look = detectLook(io);
  const { glyphs } = look;
  const threads = model.threads();
  const drawing = { width: drawingWidth(io), glyphs, nowMs, health: model.health };
  const rows: Row[] = [
    { left: [span('fleetloom', 'brand'), span(`  ${model.sessionId}`, 'dim')], right: [] },
    ...threads.map((thread) => drawThread(thread, drawing)),
    ...model.asks(drawing.nowMs).flatMap((ask): Row[] => {
      const { agent, tool, input, toolUseId, type, questions } = ask;
      const asks = span(`${glyphs.needsYou} ${toolUseId}  `, 'attention');
      if (questions.length > 0) {
        const lines = toApprovalLines(ask, drawing.width - 4, limits.inputRowsMax);
        const command = toAnswerCommand(model.sessionId, ask);
        const below = [...lines, `Answer with: ${command}`];
        return [
          { left: [asks, span(cleanLine(`${agent}  has a question:`))], right: [] },
          ...below.map((line): Row => ({ left: [span(`    ${line}`)], right: [] })),
        ];
      }
      const what = type === 'approval' ? `${tool}: ` : `waits for the result of ${tool}: `;
      return [{ left: [asks, span(cleanLine(`${agent}  ${what}${toInputLine(input)}`))], right: [] }];
    }),
    { left: drawSummary(threads, model.seen.slots.totals.usage, drawing), right: [] },
  ];
  await writeText(io.stdout, rows.map((row) => `${paintRow(row, drawing.width, look)}\n`).join(''));
}
