import type { ThreadDrawing } from '../fleet/draw-threads.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import type { Look } from '../terminal/look.ts';
import { paintRow, type Row, span } from '../terminal/row.ts';
import type { Ask } from './asks.ts';
import { drawAsk } from './draw-ask.ts';
import { drawFooter } from './draw-footer.ts';
import { drawHeader } from './draw-header.ts';
import { drawHelp } from './draw-help.ts';
import { drawInbox } from './draw-inbox.ts';
import { drawList } from './draw-list.ts';
import { drawRule } from './draw-rule.ts';
import { drawThreadPage } from './draw-thread-page.ts';
import type { WatchModel } from './watch-model.ts';

export interface WatchDrawing extends ThreadDrawing {
  readonly rows: number;
  readonly look: Look;
  /** The time of whoever looks; `nowMs` is that of what is looked at, which may be the past. */
  readonly clockMs: number;
  /** It is looked at, and nothing can be done about it. */
  readonly isPast: boolean;
}

/** The whole screen, line by line: what is known about the session, the threads or one of them, and what keys do. */
export function drawWatch(model: WatchModel, look: Look, columns: number, rows: number, clockMs: number): string[] {
  // Terminals differ in what they do in the last column.
  const width = Math.max(1, columns - 1);
  const nowMs = model.timeOf(clockMs);
  const animationMs = model.replay === undefined ? clockMs : 0;
  const isPast = model.replay !== undefined;
  const health = isPast ? undefined : model.health;
  const drawing: WatchDrawing = { width, rows, look, glyphs: look.glyphs, nowMs, animationMs, clockMs, isPast, health };
  const asks = model.asks(clockMs);
  const footer = drawFooter(model, asks, drawing);
  const room = Math.max(1, rows - 1 - footer.length);
  const { prompt } = model;
  const rule = prompt?.type === 'rule' ? drawRule(prompt.ask, prompt.text, asks, drawing).slice(-room) : [];
  const space = room - rule.length;
  const body = space === 0 ? [] : drawBody(model, asks, drawing, space).slice(0, space);
  const filled = [...body, ...Array.from({ length: space - body.length }, () => EMPTY), ...rule];
  const picture = [drawHeader(model, asks, drawing), ...filled, ...footer];
  return picture.map((row) => paintRow(row, width, look));
}

const EMPTY: Row = { left: [], right: [] };

function drawBody(model: WatchModel, asks: readonly Ask[], drawing: WatchDrawing, room: number): Row[] {
  const shown = model.rows(drawing.clockMs);
  const selected = shown[model.selectedIndex(shown)];
  const own = asks.filter(({ key }) => key === selected?.key);
  if (model.page === 'help') return drawHelp(model, room);
  if (model.page === 'inbox') {
    // Held: another one may weigh more in a moment, and a key that is pressed then is meant for this one.
    const ask = asks[model.askIndex(asks)];
    if (model.askId !== ask?.toolUseId) model.selectAsk(ask);
    show(model, ask === undefined ? [] : [ask]);
    return drawInbox(model, asks, drawing, room);
  }
  if (model.page === 'thread' && selected !== undefined) {
    show(model, own);
    return drawThreadPage(model, selected, own, drawing, room);
  }
  if (shown.length === 0) return drawNothing(model);
  const [ask] = room < ROOM_FOR_ASKS ? [] : own;
  const panel = ask === undefined ? [] : drawAsk(ask, drawing, Math.floor(room / 2));
  show(model, ask === undefined ? [] : [ask]);
  const list = drawList(model, shown, asks, drawing, room - panel.length);
  const gap = Array.from({ length: Math.max(0, room - list.length - panel.length) }, () => EMPTY);
  return [...list, ...gap, ...panel];
}

/** In fewer rows there is only the list. */
const ROOM_FOR_ASKS = 8;

function show(model: WatchModel, asks: readonly Ask[]): void {
  model.shownAsks = new Set(asks.map(({ toolUseId }) => toolUseId));
}

function drawNothing({ link, filter, replay }: WatchModel): Row[] {
  const isLoading = replay === undefined ? link === 'loading' : !replay.isLoaded;
  const said =
    filter === ''
      ? 'Nothing has happened in this session yet. "s" says something to it.'
      : `No thread has "${filter}". Esc shows all.`;
  return [EMPTY, { left: [span(isLoading ? '  loading …' : `  ${cleanLine(said)}`, 'dim')], right: [] }];
}
