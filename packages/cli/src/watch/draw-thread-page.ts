import { costOf, signOf, tokensOf } from '../fleet/draw-threads.ts';
import type { ThreadRow } from '../fleet/thread-rows.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { formatAge, formatPlural } from '../terminal/format.ts';
import { type Row, span } from '../terminal/row.ts';
import type { Ask } from './asks.ts';
import { drawAsk } from './draw-ask.ts';
import { drawEntry } from './draw-entry.ts';
import type { WatchDrawing } from './draw-watch.ts';
import type { WatchModel } from './watch-model.ts';

/** One thread: what it was asked, thought, called and said, and what it wants. Follows the end unless scrolled. */
export function drawThreadPage(
  model: WatchModel,
  row: ThreadRow,
  /** Of this thread. */
  asks: readonly Ask[],
  drawing: WatchDrawing,
  room: number,
): Row[] {
  const transcript = model.scene.transcriptOf(row.key);
  const entries = transcript?.entries ?? [];
  const before = transcript === undefined || transcript.dropped === 0 ? [] : [drawDropped(transcript.dropped, drawing)];
  const content = [
    ...before,
    ...entries.flatMap((entry) => drawEntry(entry, model.isUnfolded, drawing)),
    ...asks.flatMap((ask) => drawAsk(ask, drawing, Number.POSITIVE_INFINITY)),
  ];
  const said =
    content.length === 0 ? [{ left: [span('  waiting for its first word', 'dim' as const)], right: [] }] : content;
  const space = Math.max(1, room - 2);
  // Held within what there is, so that scrolling back begins to show at once.
  model.scroll = Math.max(0, Math.min(model.scroll, said.length - space));
  const end = said.length - model.scroll;
  const below = model.scroll === 0 ? '' : formatPlural(model.scroll, 'line');
  return [
    drawTitle(model, row, asks, drawing),
    ...said.slice(Math.max(0, end - space), end),
    ...(below === '' ? [] : [{ left: [span(`  ${below} below`, 'attention')], right: [] }]),
  ];
}

function drawTitle(model: WatchModel, row: ThreadRow, asks: readonly Ask[], drawing: WatchDrawing): Row {
  const { glyphs, nowMs } = drawing;
  const state = model.stateOf(row, nowMs, asks);
  const { lastAt, model: name } = row.slot;
  const facts = [name ?? '', row.threadId ?? '', formatPlural(row.turns, 'turn')].filter((fact) => fact !== '');
  const heard = lastAt === null ? '' : `  ${formatAge(nowMs - lastAt)}`;
  return {
    left: [
      span(`${signOf(state, drawing)} ${state.word}  `, state.style),
      span(cleanLine(row.agent), 'bold'),
      span(`  ${facts.map(cleanLine).join(` ${glyphs.dot} `)}`, 'dim'),
    ],
    right: [span(`${tokensOf(row.usage)} tok  ${costOf(row.usage, glyphs)}${heard}`, 'dim')],
  };
}

function drawDropped(characters: number, { glyphs }: WatchDrawing): Row {
  return { left: [span(`${glyphs.ellipsis} ${characters} characters before`, 'dim')], right: [] };
}
