import type { SlotTool } from '@fleetloom/protocol/fleet';
import { ageOf, costOf, signOf, tokensOf } from '../fleet/draw-threads.ts';
import { toSlotState } from '../fleet/slot-state.ts';
import type { ThreadRow } from '../fleet/thread-rows.ts';
import { cleanLine, cleanText } from '../terminal/clean-text.ts';
import { formatDuration, formatPlural } from '../terminal/format.ts';
import { type Row, span } from '../terminal/row.ts';
import { wrapText } from '../terminal/text-width.ts';
import { drawAsk } from './draw-ask.ts';
import type { WatchDrawing } from './draw-watch.ts';
import type { WatchModel } from './watch-model.ts';

/** One thread: what it was asked, what it called, what it says, and what it wants. Follows the end unless scrolled. */
export function drawThreadPage(model: WatchModel, row: ThreadRow, drawing: WatchDrawing, room: number): Row[] {
  const asks = model.openAsks(row).flatMap((ask) => drawAsk(ask, drawing, Number.POSITIVE_INFINITY));
  const content = [...drawTask(row, drawing), ...drawTools(row, drawing), ...drawText(row, drawing), ...asks];
  const space = Math.max(1, room - 2);
  // Held within what there is, so that scrolling back begins to show at once.
  model.scroll = Math.max(0, Math.min(model.scroll, content.length - space));
  const end = content.length - model.scroll;
  const below = model.scroll === 0 ? '' : formatPlural(model.scroll, 'line');
  return [
    drawTitle(row, drawing),
    ...content.slice(Math.max(0, end - space), end),
    ...(below === '' ? [] : [{ left: [span(`  ${below} below`, 'attention')], right: [] }]),
  ];
}

function drawTitle(row: ThreadRow, drawing: WatchDrawing): Row {
  const { glyphs, nowMs } = drawing;
  const state = toSlotState(row.slot, nowMs);
  const facts = [row.slot.model ?? '', row.threadId ?? '', formatPlural(row.turns, 'turn')].filter(
    (fact) => fact !== '',
  );
  return {
    left: [
      span(`${signOf(state, drawing)} ${state.word}  `, state.style),
      span(cleanLine(row.agent), 'bold'),
      span(`  ${facts.map(cleanLine).join(` ${glyphs.dot} `)}`, 'dim'),
    ],
    right: [span(`${tokensOf(row.usage)} tok  ${costOf(row.usage, glyphs)}  ${ageOf(row, nowMs)}`, 'dim')],
  };
}

function drawTask({ slot: { task } }: ThreadRow, { glyphs, width }: WatchDrawing): Row[] {
  if (task === null || task === '') return [];
  return [
    ...wrapText(cleanText(task), width - 4).map(
      (line): Row => ({ left: [span(`${glyphs.given} ${line}`, 'dim')], right: [] }),
    ),
    EMPTY,
  ];
}

function drawTools({ slot: { tools, toolsStarted } }: ThreadRow, drawing: WatchDrawing): Row[] {
  if (tools.length === 0) return [];
  const hidden = toolsStarted - tools.length;
  const before: Row[] =
    hidden > 0 ? [{ left: [span(`  ${formatPlural(hidden, 'call')} before`, 'dim')], right: [] }] : [];
  return [...before, ...tools.map((tool) => drawTool(tool, drawing)), EMPTY];
}

function drawTool(
  { tool, label, state, durationMs, error, startedAt }: SlotTool,
  { glyphs, nowMs }: WatchDrawing,
): Row {
  const [sign, style] = (
    {
      running: [glyphs.tool, 'tool'],
      ok: [glyphs.done, 'ok'],
      failed: [glyphs.failed, 'failed'],
      lost: [glyphs.unfinished, 'attention'],
    } as const
  )[state];
  const took = durationMs ?? (state === 'running' && startedAt !== null ? nowMs - startedAt : undefined);
  const said = error === null ? label : `${label}  ${error}`;
  return {
    left: [span(`${sign} `, style), span(cleanLine(tool), 'bold'), span(`  ${cleanLine(said)}`, 'dim')],
    right: [span(took === undefined ? '' : formatDuration(took), 'dim')],
  };
}

function drawText({ slot: { text, error } }: ThreadRow, { width, glyphs }: WatchDrawing): Row[] {
  const cut =
    text.length > text.tail.length
      ? [
          {
            left: [span(`${glyphs.ellipsis} ${text.length - text.tail.length} characters before`, 'dim' as const)],
            right: [],
          },
        ]
      : [];
  const lines = text.tail === '' ? [] : wrapText(cleanText(text.tail), width - 2);
  const failure: Row[] =
    error === null ? [] : [{ left: [span(`${glyphs.failed} ${cleanLine(error)}`, 'failed')], right: [] }];
  return [...cut, ...lines.map((line): Row => ({ left: [span(line)], right: [] })), ...failure];
}

const EMPTY: Row = { left: [], right: [] };
