import { formatUsageCost, type ThreadRow, tokensOf } from '@fleetloom/protocol/fleet';
import { cleanLine, formatAge, formatCount, plural } from '@fleetloom/protocol/text';
import { signOf } from '../../fleet/draw-threads.ts';
import { type Row, span } from '../../terminal/row.ts';
import type { PendingCall } from '../state/pending-calls.ts';
import { drawPendingCall } from './draw-pending-call.ts';
import { drawEntry } from './draw-entry.ts';
import type { WatchDrawing } from './watch-drawing.ts';
import type { WatchModel } from '../state/watch-model.ts';

/** The page of one thread: task, thinking, tool calls, text, and its pending request. Follows the end unless scrolled. */
export function drawThreadPage(
  model: WatchModel,
  row: ThreadRow,
  /** Pending requests of this thread. */
  pendingCalls: readonly PendingCall[],
  drawing: WatchDrawing,
  room: number,
): Row[] {
  const transcript = model.scene.transcriptOf(row.key);
  const entries = transcript?.entries ?? [];
  const before = transcript === undefined || transcript.dropped === 0 ? [] : [drawDropped(transcript.dropped, drawing)];
  const content = [
    ...before,
    ...entries.flatMap((entry) => drawEntry(entry, model.isUnfolded, drawing)),
    ...pendingCalls.flatMap((pendingCall) => drawPendingCall(pendingCall, drawing, Number.POSITIVE_INFINITY)),
  ];
  const said = content.length === 0 ? [{ left: [span('  no output yet', 'dim' as const)], right: [] }] : content;
  const space = Math.max(1, room - 2);
  // Clamped, so that scrolling back has an effect at once.
  model.scroll = Math.max(0, Math.min(model.scroll, said.length - space));
  const end = said.length - model.scroll;
  const below = model.scroll === 0 ? '' : plural(model.scroll, 'line');
  return [
    drawTitle(model, row, pendingCalls, drawing),
    ...said.slice(Math.max(0, end - space), end),
    ...(below === '' ? [] : [{ left: [span(`  ${below} below`, 'attention')], right: [] }]),
  ];
}

function drawTitle(
  model: WatchModel,
  row: ThreadRow,
  pendingCalls: readonly PendingCall[],
  drawing: WatchDrawing,
): Row {
  const { glyphs, nowMs } = drawing;
  const state = model.stateOf(row, nowMs, pendingCalls);
  const { lastAt, model: name } = row.slot;
  const facts = [name ?? '', row.threadId ?? '', plural(row.turns, 'turn')].filter((fact) => fact !== '');
  const heard = lastAt === null ? '' : `  ${formatAge(nowMs - lastAt)}`;
  return {
    left: [
      span(`${signOf(state, drawing)} ${state.word}  `, state.style),
      span(cleanLine(row.agent), 'bold'),
      span(`  ${facts.map(cleanLine).join(` ${glyphs.dot} `)}`, 'dim'),
    ],
    right: [
      span(`${formatCount(tokensOf(row.usage))} tok  ${formatUsageCost(row.usage, glyphs.unknown)}${heard}`, 'dim'),
    ],
  };
}

function drawDropped(characters: number, { glyphs }: WatchDrawing): Row {
  return { left: [span(`${glyphs.ellipsis} ${characters} earlier characters`, 'dim')], right: [] };
}
