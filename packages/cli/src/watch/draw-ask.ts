import { toApprovalLines } from '../fleet/input-lines.ts';
import { limits } from '../limits.ts';
import { cleanInputLine, cleanLine } from '../terminal/clean-text.ts';
import { type Row, span } from '../terminal/row.ts';
import type { Ask } from './asks.ts';
import type { WatchDrawing } from './draw-watch.ts';

/** What an agent asks for, with as much of the input as there is room for; that there is more is always said. */
export function drawAsk(ask: Ask, { glyphs, width, isPast }: WatchDrawing, room: number): Row[] {
  const lines = toApprovalLines(ask, width - 4, limits.inputRowsMax);
  const space = Math.max(1, room - 1);
  const shown = lines.length <= space ? lines : lines.slice(0, space - 1);
  const rest = lines.length - shown.length;
  const keys = isPast ? '' : ask.type === 'approval' ? 'a approve  d deny  A pattern' : 'r answer';
  return [
    { left: drawWhat(ask, glyphs.needsYou), right: [span(keys, 'attention')] },
    ...shown.map((line): Row => ({ left: [span(`    ${line}`)], right: [] })),
    ...(rest === 0
      ? []
      : [{ left: [span(`    ${glyphs.ellipsis} ${rest} more lines, i shows them`, 'attention')], right: [] }]),
  ];
}

export function drawWhat({ type, agent, tool, plan, questions }: Ask, sign: string): Row['left'] {
  const approves = plan === null ? 'asks for' : 'has a plan to approve:';
  const waits = questions.length === 0 ? 'waits for the result of' : 'has a question:';
  const asks = type === 'approval' ? approves : waits;
  return [span(`${sign} ${cleanLine(agent)} ${asks} `, 'attention'), span(cleanInputLine(tool), 'bold')];
}
