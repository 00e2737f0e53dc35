import { cutTextStart } from '@fleetloom/protocol/fleet';
import { toColumn, toInputLine } from '../fleet/draw-threads.ts';
import { toApprovalLines } from '../fleet/input-lines.ts';
import { limits } from '../limits.ts';
import { cleanInputLine, cleanLine, cleanText } from '../terminal/clean-text.ts';
import { formatAge, formatPlural } from '../terminal/format.ts';
import { type Row, type Span, span } from '../terminal/row.ts';
import { wrapText } from '../terminal/text-width.ts';
import type { Ask } from './asks.ts';
import { drawWhat } from './draw-ask.ts';
import type { WatchDrawing } from './draw-watch.ts';
import type { WatchModel } from './watch-model.ts';

/** All that waits for somebody, and of the chosen one everything that there is to know before saying yes. */
export function drawInbox(model: WatchModel, asks: readonly Ask[], drawing: WatchDrawing, room: number): Row[] {
  const [longest] = asks.map(({ askedAt }) => askedAt ?? drawing.nowMs).toSorted((left, right) => left - right);
  const ask = asks[model.askIndex(asks)];
  if (ask === undefined || longest === undefined) return drawEmpty(model);
  const title = `${asks.length === 1 ? '1 waits' : `${asks.length} wait`} for you, for ${formatAge(drawing.nowMs - longest)} at most`;
  const listed = Math.max(1, Math.min(asks.length, Math.floor((room - 3) / 3)));
  const list = drawAsks(model, asks, drawing, listed);
  const rule = drawing.glyphs.rule.repeat(drawing.width);
  const head: Row[] = [
    { left: [span(' INBOX  ', 'bold'), span(title, 'attention')], right: [] },
    ...list,
    { left: [span(rule, 'rail')], right: [] },
  ];
  return [...head, ...drawCard(model, ask, drawing, Math.max(1, room - head.length))];
}

function drawEmpty(model: WatchModel): Row[] {
  const running = model.threads().filter(({ slot }) => slot.state === 'running').length;
  const others = running === 0 ? 'Nobody is at work.' : `${formatPlural(running, 'thread')} at work.`;
  const past = model.replay === undefined ? '' : ' (as it was then)';
  return [
    { left: [span(' INBOX', 'bold'), span(past, 'dim')], right: [] },
    EMPTY,
    { left: [span(`  Nothing needs you. ${others}`, 'dim')], right: [] },
  ];
}

const EMPTY: Row = { left: [], right: [] };

function drawAsks(model: WatchModel, asks: readonly Ask[], drawing: WatchDrawing, room: number): Row[] {
  const selected = model.askIndex(asks);
  const first = Math.max(0, Math.min(selected - Math.floor(room / 2), asks.length - room));
  const { glyphs, nowMs } = drawing;
  const nameWidth = Math.min(
    24,
    asks.reduce((most, { agent }) => Math.max(most, cleanLine(agent).length), 0),
  );
  return asks.slice(first, first + room).map((ask, index): Row => {
    const isSelected = first + index === selected;
    const held = ask.path.length === 1 ? '' : `holds up ${ask.path.length} `;
    return {
      left: [
        span(isSelected ? `${glyphs.given} ` : '  ', 'brand'),
        span(`${ask.type === 'approval' ? glyphs.needsYou : '?'} `, 'attention'),
        span(`${toColumn(cleanLine(ask.agent), nameWidth, glyphs.ellipsis)}  `, isSelected ? 'bold' : 'plain'),
        span(cleanInputLine(toAskLine(ask)), isSelected ? 'plain' : 'dim'),
      ],
      right: [span(`${held}${ask.askedAt === null ? '' : formatAge(nowMs - ask.askedAt).padStart(4)}`, 'dim')],
    };
  });
}

function toAskLine({ tool, input, questions }: Ask): string {
  return questions.length === 0 ? `${tool}: ${toInputLine(input)}` : questions.map(({ text }) => text).join(' ');
}

/** Who asks and who waits for it, why, and the whole input, which can be scrolled through. */
function drawCard(model: WatchModel, ask: Ask, drawing: WatchDrawing, room: number): Row[] {
  const { glyphs, width } = drawing;
  const path = ask.path.map(cleanLine).join(` ${glyphs.given} `);
  const head: Row[] = [
    { left: [span(' '), ...drawWhat(ask, glyphs.needsYou)], right: [span(ask.toolUseId, 'dim')] },
    ...(ask.path.length > 1 ? [{ left: [span(`   ${path}`, 'dim')], right: [] }] : []),
    ...drawReason(model, ask, drawing),
  ];
  const lines = toApprovalLines(ask, width - 4, limits.inputPageRowsMax);
  const space = Math.max(1, room - head.length);
  if (lines.length <= space) {
    model.scroll = 0;
    return [...head, ...lines.map((line): Row => ({ left: [span(`   ${line}`)], right: [] }))];
  }
  const shown = Math.max(1, space - 1);
  model.scroll = Math.max(0, Math.min(model.scroll, lines.length - shown));
  const end = model.scroll + shown;
  const place = `   lines ${model.scroll + 1} to ${end} of ${lines.length}, PgDn and PgUp show the others`;
  return [
    ...head,
    ...lines.slice(model.scroll, end).map((line): Row => ({ left: [span(`   ${line}`)], right: [] })),
    { left: [span(place, 'attention')], right: [] },
  ];
}

/** The last thing that it said, which is mostly why. */
function drawReason(model: WatchModel, ask: Ask, { width, glyphs }: WatchDrawing): Row[] {
  const said = model.scene.transcriptOf(ask.key)?.entries.findLast(({ type }) => type === 'text');
  if (said?.type !== 'text') return [];
  const text = cleanText(cutTextStart(said.text, 1_000)).trim();
  const lines = wrapText(text.split('\n').at(-1) ?? '', width - 6);
  const [last] = lines.slice(-1);
  if (last === undefined || last === '') return [];
  const spans: Span[] = [span(`   ${lines.length > 1 ? glyphs.ellipsis : ''}"${last}"`, 'thought')];
  return [{ left: spans, right: [] }];
}
