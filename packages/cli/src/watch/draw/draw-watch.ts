import { cleanLine } from '@fleetloom/protocol/text';
import type { Look } from '../../terminal/look.ts';
import { paintRow, type Row, span } from '../../terminal/row.ts';
import type { PendingCall } from '../state/pending-calls.ts';
import { drawPendingCall } from './draw-pending-call.ts';
import { drawFooter } from './draw-footer.ts';
import { drawHeader } from './draw-header.ts';
import { drawHelp } from './draw-help.ts';
import { drawInbox } from './draw-inbox.ts';
import { drawList } from './draw-list.ts';
import { drawRule } from './draw-rule.ts';
import { drawThreadPage } from './draw-thread-page.ts';
import type { WatchModel } from '../state/watch-model.ts';
import type { WatchDrawing } from './watch-drawing.ts';

/** The whole screen, line by line: header, list or page, footer. */
export function drawWatch(model: WatchModel, look: Look, columns: number, rows: number, clockMs: number): string[] {
  // Terminals wrap differently in the last column.
  const width = Math.max(1, columns - 1);
  const nowMs = model.timeOf(clockMs);
  const animationMs = model.replay === undefined ? clockMs : 0;
  const isPast = model.replay !== undefined;
  const health = isPast ? undefined : model.health;
  const drawing: WatchDrawing = { width, rows, look, glyphs: look.glyphs, nowMs, animationMs, clockMs, isPast, health };
  const pendingCalls = model.pendingCalls(clockMs);
  const footer = drawFooter(model, pendingCalls, drawing);
  const room = Math.max(1, rows - 1 - footer.length);
  const { prompt } = model;
  const rule =
    prompt?.type === 'rule' ? drawRule(prompt.pendingCall, prompt.text, pendingCalls, drawing).slice(-room) : [];
  const space = room - rule.length;
  const body = space === 0 ? [] : drawBody(model, pendingCalls, drawing, space).slice(0, space);
  const filled = [...body, ...Array.from({ length: space - body.length }, () => EMPTY), ...rule];
  const picture = [drawHeader(model, pendingCalls, drawing), ...filled, ...footer];
  return picture.map((row) => paintRow(row, width, look));
}

const EMPTY: Row = { left: [], right: [] };

function drawBody(model: WatchModel, pendingCalls: readonly PendingCall[], drawing: WatchDrawing, room: number): Row[] {
  const shown = model.rows(drawing.clockMs);
  const selected = shown[model.selectedIndex(shown)];
  const own = pendingCalls.filter(({ key }) => key === selected?.key);
  if (model.page === 'help') return drawHelp(model, room);
  if (model.page === 'inbox') {
    // Keeps the selection: the order may change before the next key, which is meant for this one.
    const pendingCall = pendingCalls[model.pendingIndex(pendingCalls)];
    if (model.pendingId !== pendingCall?.toolUseId) model.selectCall(pendingCall);
    show(model, pendingCall === undefined ? [] : [pendingCall]);
    return drawInbox(model, pendingCalls, drawing, room);
  }
  if (model.page === 'thread' && selected !== undefined) {
    show(model, own);
    return drawThreadPage(model, selected, own, drawing, room);
  }
  if (shown.length === 0) return drawNothing(model);
  const [pendingCall] = room < ROOM_FOR_CALLS ? [] : own;
  const panel = pendingCall === undefined ? [] : drawPendingCall(pendingCall, drawing, Math.floor(room / 2));
  show(model, pendingCall === undefined ? [] : [pendingCall]);
  const list = drawList(model, shown, pendingCalls, drawing, room - panel.length);
  const gap = Array.from({ length: Math.max(0, room - list.length - panel.length) }, () => EMPTY);
  return [...list, ...gap, ...panel];
}

/** With fewer rows, only the list is shown. */
const ROOM_FOR_CALLS = 8;

function show(model: WatchModel, pendingCalls: readonly PendingCall[]): void {
  model.shownCalls = new Set(pendingCalls.map(({ toolUseId }) => toolUseId));
}

function drawNothing({ link, filter, replay }: WatchModel): Row[] {
  const isLoading = replay === undefined ? link === 'loading' : !replay.isLoaded;
  const said =
    filter === ''
      ? 'No events in this session yet. Press s to send a message.'
      : `No thread matches "${filter}". Esc clears the filter.`;
  return [EMPTY, { left: [span(isLoading ? '  loading …' : `  ${cleanLine(said)}`, 'dim')], right: [] }];
}
