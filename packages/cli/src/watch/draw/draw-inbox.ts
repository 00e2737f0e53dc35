import { cutTextStart } from '@fleetloom/protocol/fleet';
import { cleanLine, formatAge, plural } from '@fleetloom/protocol/text';
import { toColumn, toInputLabel } from '../../fleet/draw-threads.ts';
import { toApprovalLines } from '../../fleet/input-lines.ts';
import { limits } from '../../base/limits.ts';
import { cleanText } from '../../terminal/clean-text.ts';
import { type Row, type Span, span } from '../../terminal/row.ts';
import { wrapText } from '../../terminal/text-width.ts';
import type { PendingCall } from '../state/pending-calls.ts';
import { drawWhat } from './draw-pending-call.ts';
import type { WatchDrawing } from './watch-drawing.ts';
import type { WatchModel } from '../state/watch-model.ts';

/** The inbox: all pending approvals and questions, and the whole input of the selected one. */
export function drawInbox(
  model: WatchModel,
  pendingCalls: readonly PendingCall[],
  drawing: WatchDrawing,
  room: number,
): Row[] {
  const [longest] = pendingCalls.map(({ askedAt }) => askedAt ?? drawing.nowMs).toSorted((left, right) => left - right);
  const pendingCall = pendingCalls[model.pendingIndex(pendingCalls)];
  if (pendingCall === undefined || longest === undefined) return drawEmpty(model);
  const title = `${pendingCalls.length} pending, oldest ${formatAge(drawing.nowMs - longest)}`;
  const listed = Math.max(1, Math.min(pendingCalls.length, Math.floor((room - 3) / 3)));
  const list = drawPendingCalls(model, pendingCalls, drawing, listed);
  const rule = drawing.glyphs.rule.repeat(drawing.width);
  const head: Row[] = [
    { left: [span(' INBOX  ', 'bold'), span(title, 'attention')], right: [] },
    ...list,
    { left: [span(rule, 'rail')], right: [] },
  ];
  return [...head, ...drawCard(model, pendingCall, drawing, Math.max(1, room - head.length))];
}

function drawEmpty(model: WatchModel): Row[] {
  const running = model.threads().filter(({ slot }) => slot.state === 'running').length;
  const others = running === 0 ? 'No thread is running.' : `${plural(running, 'thread')} running.`;
  const past = model.replay === undefined ? '' : ' (as it was then)';
  return [
    { left: [span(' INBOX', 'bold'), span(past, 'dim')], right: [] },
    EMPTY,
    { left: [span(`  Nothing is pending. ${others}`, 'dim')], right: [] },
  ];
}

const EMPTY: Row = { left: [], right: [] };

function drawPendingCalls(
  model: WatchModel,
  pendingCalls: readonly PendingCall[],
  drawing: WatchDrawing,
  room: number,
): Row[] {
  const selected = model.pendingIndex(pendingCalls);
  const first = Math.max(0, Math.min(selected - Math.floor(room / 2), pendingCalls.length - room));
  const { glyphs, nowMs } = drawing;
  const nameWidth = Math.min(
    24,
    pendingCalls.reduce((most, { agent }) => Math.max(most, cleanLine(agent).length), 0),
  );
  return pendingCalls.slice(first, first + room).map((pendingCall, index): Row => {
    const isSelected = first + index === selected;
    const held = pendingCall.path.length === 1 ? '' : `blocks ${pendingCall.path.length} `;
    return {
      left: [
        span(isSelected ? `${glyphs.given} ` : '  ', 'brand'),
        span(`${pendingCall.type === 'approval' ? glyphs.needsYou : '?'} `, 'attention'),
        span(`${toColumn(cleanLine(pendingCall.agent), nameWidth, glyphs.ellipsis)}  `, isSelected ? 'bold' : 'plain'),
        span(cleanLine(toPendingLine(pendingCall)), isSelected ? 'plain' : 'dim'),
      ],
      right: [
        span(`${held}${pendingCall.askedAt === null ? '' : formatAge(nowMs - pendingCall.askedAt).padStart(4)}`, 'dim'),
      ],
    };
  });
}

function toPendingLine({ tool, input, questions }: PendingCall): string {
  return questions.length === 0 ? `${tool}: ${toInputLabel(input)}` : questions.map(({ text }) => text).join(' ');
}

/** The requesting agent, the threads waiting for it, the last text, and the whole input, scrollable. */
function drawCard(model: WatchModel, pendingCall: PendingCall, drawing: WatchDrawing, room: number): Row[] {
  const { glyphs, width } = drawing;
  const path = pendingCall.path.map(cleanLine).join(` ${glyphs.given} `);
  const head: Row[] = [
    { left: [span(' '), ...drawWhat(pendingCall, glyphs.needsYou)], right: [span(pendingCall.toolUseId, 'dim')] },
    ...(pendingCall.path.length > 1 ? [{ left: [span(`   ${path}`, 'dim')], right: [] }] : []),
    ...drawReason(model, pendingCall, drawing),
  ];
  const lines = toApprovalLines(pendingCall, width - 4, limits.inputPageRowsMax);
  const space = Math.max(1, room - head.length);
  if (lines.length <= space) {
    model.scroll = 0;
    return [...head, ...lines.map((line): Row => ({ left: [span(`   ${line}`)], right: [] }))];
  }
  const shown = Math.max(1, space - 1);
  model.scroll = Math.max(0, Math.min(model.scroll, lines.length - shown));
  const end = model.scroll + shown;
  const place = `   lines ${model.scroll + 1} to ${end} of ${lines.length}, PgDn and PgUp scroll`;
  return [
    ...head,
    ...lines.slice(model.scroll, end).map((line): Row => ({ left: [span(`   ${line}`)], right: [] })),
    { left: [span(place, 'attention')], right: [] },
  ];
}

/** The last text of the agent, which usually explains the request. */
function drawReason(model: WatchModel, pendingCall: PendingCall, { width, glyphs }: WatchDrawing): Row[] {
  const said = model.scene.transcriptOf(pendingCall.key)?.entries.findLast(({ type }) => type === 'text');
  if (said?.type !== 'text') return [];
  const text = cleanText(cutTextStart(said.text, 1_000)).trim();
  const lines = wrapText(text.split('\n').at(-1) ?? '', width - 6);
  const [last] = lines.slice(-1);
  if (last === undefined || last === '') return [];
  const spans: Span[] = [span(`   ${lines.length > 1 ? glyphs.ellipsis : ''}"${last}"`, 'thought')];
  return [{ left: spans, right: [] }];
}
