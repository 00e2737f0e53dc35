import { cleanLine, plural } from '@fleetloom/protocol/text';
import { toApprovalLines } from '../../fleet/input-lines.ts';
import { limits } from '../../base/limits.ts';
import { type Row, span } from '../../terminal/row.ts';
import type { PendingCall } from '../state/pending-calls.ts';
import type { WatchDrawing } from './watch-drawing.ts';

/** A pending approval or question with as much input as fits, and a note about hidden lines. */
export function drawPendingCall(
  pendingCall: PendingCall,
  { glyphs, width, isPast }: WatchDrawing,
  room: number,
): Row[] {
  const lines = toApprovalLines(pendingCall, width - 4, limits.inputRowsMax);
  const space = Math.max(1, room - 1);
  const shown = lines.length <= space ? lines : lines.slice(0, space - 1);
  const rest = lines.length - shown.length;
  const keys = isPast ? '' : pendingCall.type === 'approval' ? 'a approve  d deny  A pattern' : 'r answer';
  return [
    { left: drawWhat(pendingCall, glyphs.needsYou), right: [span(keys, 'attention')] },
    ...shown.map((line): Row => ({ left: [span(`    ${line}`)], right: [] })),
    ...(rest === 0
      ? []
      : [{ left: [span(`    ${glyphs.ellipsis} ${plural(rest, 'more line')}, press i`, 'attention')], right: [] }]),
  ];
}

/** Which agent waits, for what, and the tool. */
export function drawWhat({ type, agent, tool, plan, questions }: PendingCall, sign: string): Row['left'] {
  const approves = plan === null ? 'requests approval for' : 'requests approval of a plan:';
  const waits = questions.length === 0 ? 'waits for the result of' : 'has a question:';
  const reason = type === 'approval' ? approves : waits;
  return [span(`${sign} ${cleanLine(agent)} ${reason} `, 'attention'), span(cleanLine(tool), 'bold')];
}
