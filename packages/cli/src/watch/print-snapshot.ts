import { cleanLine } from '@fleetloom/protocol/text';
import { drawSummary, drawThread, toInputLine } from '../fleet/draw-threads.ts';
import { toApprovalLines } from '../fleet/input-lines.ts';
import { toAnswerCommand } from '../fleet/read-open.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { detectLook, drawingWidth } from '../terminal/look.ts';
import { paintRow, type Row, span } from '../terminal/row.ts';
import { loadTextWidth } from '../terminal/text-width.ts';
import { toPasted } from '../base/to-pasted.ts';
import { writeText } from '../base/write-text.ts';
import type { WatchModel } from './state/watch-model.ts';

/** Prints the current state of a session: threads, time, cost, and pending requests. */
export async function printSnapshot(io: Io, model: WatchModel, nowMs: number): Promise<void> {
  await loadTextWidth();
  const look = detectLook(io);
  const { glyphs } = look;
  const threads = model.threads();
  const drawing = { width: drawingWidth(io), glyphs, nowMs, health: model.health };
  const rows: Row[] = [
    {
      left: [span('fleetloom', 'brand'), span(`  ${cleanLine(model.facts.name ?? '')}`.trimEnd())],
      right: [span(model.sessionId, 'dim')],
    },
    ...threads.map((thread) => drawThread(thread, drawing)),
    ...model.pendingCalls(drawing.nowMs).flatMap((pendingCall): Row[] => {
      const { agent, tool, input, toolUseId, type, questions } = pendingCall;
      const pendingCalls = span(`${glyphs.needsYou} ${toolUseId}  `, 'attention');
      if (questions.length > 0) {
        const lines = toApprovalLines(pendingCall, drawing.width - 4, limits.inputRowsMax);
        const command = toPasted(io, toAnswerCommand(model.sessionId, pendingCall));
        const below = [...lines, `Answer with: ${command}`];
        return [
          { left: [pendingCalls, span(cleanLine(`${agent}  has a question:`))], right: [] },
          ...below.map((line): Row => ({ left: [span(`    ${line}`)], right: [] })),
        ];
      }
      const what = type === 'approval' ? `${tool}: ` : `waits for the result of ${tool}: `;
      return [{ left: [pendingCalls, span(cleanLine(`${agent}  ${what}${toInputLine(input)}`))], right: [] }];
    }),
    { left: drawSummary(threads, model.seen.slots.totals.usage, drawing), right: [] },
  ];
  await writeText(io.stdout, rows.map((row) => `${paintRow(row, drawing.width, look)}\n`).join(''));
}
