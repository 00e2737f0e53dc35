import {
  createSlots,
  type FleetEvent,
  foldSlots,
  openApprovals,
  type SessionSlots,
  type ThreadRow,
  toThreadRows,
} from '@fleetloom/protocol/fleet';
import { cleanLine, plural } from '@fleetloom/protocol/text';
import { drawSummary, drawThread } from '../fleet/draw-threads.ts';
import { toEventLine } from '../fleet/event-line.ts';
import { toInputLines } from '../fleet/input-lines.ts';
import { LineLog } from '../fleet/log-line.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { toStderrIo } from '../base/stderr-io.ts';
import { formatRunning } from '../terminal/format-running.ts';
import { LiveScreen } from '../terminal/live-screen.ts';
import { detectLook, drawingWidth, type Look } from '../terminal/look.ts';
import { paintRow, type Row, span } from '../terminal/row.ts';
import { loadTextWidth } from '../terminal/text-width.ts';
import { writeText } from '../base/write-text.ts';
import { toPasted } from '../base/to-pasted.ts';

/** Shows a run live. */
export interface RunView {
  take(event: FleetEvent): Promise<void> | void;
  /** Shows a note that is not an event. */
  note(text: string): void;
  /** Whether the approval is visible: nothing may be approved unseen. */
  shows(toolUseId: string): boolean;
  /** Draws the final state and restores the terminal. */
  stop(): void;
}

/** Prints the events on standard output, and nothing else (SPEC Y8). */
export function createJsonView(io: Io): RunView {
  return {
    take: (event) => writeText(io.stdout, toEventLine(io, event)),
    note: () => {},
    shows: () => true,
    stop: () => {},
  };
}

/** Draws on standard error: a live tree on a terminal, otherwise one line per change. `now` is the time on the server. */
export async function createTextView(io: Io, canAnswer: () => boolean, now = () => io.timers.now()): Promise<RunView> {
  const screenIo = toStderrIo(io);
  const look = detectLook(screenIo);
  if (!look.live) return createLineView(io, look);
  await loadTextWidth();
  return createTreeView(screenIo, look, canAnswer, now);
}

function createLineView(io: Io, look: Look): RunView {
  const log = new LineLog(look);
  let slots = createSlots();
  return {
    take: async (event) => {
      slots = foldSlots(slots, event);
      const lines = log.take(slots, event, slots.lastAt ?? io.timers.now());
      if (lines.length > 0) await writeText(io.stderr, lines.map((line) => `${line}\n`).join(''));
    },
    note: (text) => void io.stderr.write(`fleetloom: ${text}\n`),
    shows: () => true,
    stop: () => {},
  };
}

function createTreeView(io: Io, look: Look, canAnswer: () => boolean, now: () => number): RunView {
  let slots = createSlots();
  let note: string | undefined;
  let shown: string | undefined;
  const draw = (rowsMax: number, isFinal: boolean) => {
    const width = drawingWidth(io);
    const nowMs = now();
    const drawing = { width, glyphs: look.glyphs, nowMs, ...(isFinal ? {} : { animationMs: nowMs }) };
    shown = openApprovals(slots)[0]?.toolUseId;
    const asks = isFinal ? [] : drawAsks(io, slots, look, canAnswer(), width, Math.floor(rowsMax / 2));
    const notes = note === undefined ? [] : [{ left: [span(note, 'attention')], right: [] }];
    const room = rowsMax - asks.length - notes.length - 2;
    const threads = toThreadRows(slots.runs);
    const rows = fitThreads(threads, Math.max(1, room)).map((row) =>
      typeof row === 'number' ? drawRest(row, look) : drawThread(row, drawing),
    );
    const summary = {
      left: drawSummary(threads, slots.totals.usage, drawing),
      right: [span(timeOf(slots, nowMs), 'dim')],
    };
    return [drawTitle(slots, look), ...rows, ...asks, ...notes, summary].map((row) => paintRow(row, width, look));
  };
  const screen = new LiveScreen(io, (rowsMax) => draw(rowsMax, false));
  screen.start();
  let cancelTick = () => {};
  const tick = () => {
    screen.update();
    cancelTick = io.timers.after(limits.tickMs, tick);
  };
  tick();
  return {
    take: (event) => {
      slots = foldSlots(slots, event);
      screen.update();
    },
    note: (text) => {
      note = text;
      screen.update();
    },
    shows: (toolUseId) => shown === toolUseId,
    stop: () => {
      cancelTick();
      screen.stop(draw(limits.finalRowsMax, true));
    },
  };
}

function drawTitle({ runs, sessionId }: SessionSlots, { glyphs }: Look): Row {
  const run = runs.at(-1);
  const facts = [sessionId, run?.message]
    .filter((fact) => fact !== null && fact !== undefined)
    .map((fact) => cleanLine(fact));
  return { left: [span('fleetloom', 'brand'), span(`  ${facts.join(` ${glyphs.dot} `)}`, 'dim')], right: [] };
}

/** The first pending approval with its input, up to half of the screen, so that the call is not approved unseen. */
function drawAsks(
  io: Io,
  slots: SessionSlots,
  { glyphs }: Look,
  canAnswer: boolean,
  width: number,
  rowsMax: number,
): Row[] {
  const open = openApprovals(slots);
  const [first] = open;
  if (first === undefined) return [];
  const more = open.length === 1 ? '' : `  and ${open.length - 1} more`;
  const lines = toInputLines(first.input, width - 4, limits.inputRowsMax);
  const space = Math.max(1, rowsMax - 2);
  const shown = lines.length <= space ? lines : lines.slice(0, Math.max(1, space - 1));
  const rest = lines.length - shown.length;
  const answer = canAnswer
    ? `a approve ${glyphs.dot} d deny`
    : toPasted(io, `fleetloom approve ${slots.sessionId ?? ''} ${first.toolUseId}`);
  return [
    {
      left: [
        span(`${glyphs.needsYou} ${cleanLine(first.agent)} requests approval for `, 'attention'),
        span(cleanLine(first.tool), 'bold'),
        span(more, 'dim'),
      ],
      right: [],
    },
    ...shown.map((line): Row => ({ left: [span(`    ${line}`)], right: [] })),
    ...(rest === 0
      ? []
      : [{ left: [span(`    ${glyphs.ellipsis} ${plural(rest, 'more line')}`, 'attention')], right: [] }]),
    { left: [span(`  ${answer}`, 'dim')], right: [] },
  ];
}

/** With more threads than rows, finished threads are replaced by a count first, then the last ones. */
function fitThreads(threads: readonly ThreadRow[], rowsMax: number): (ThreadRow | number)[] {
  if (threads.length <= rowsMax) return [...threads];
  const room = rowsMax - 1;
  const chosen = new Set(threads.filter(({ branches }) => branches.length === 0).slice(0, room));
  for (const wanted of [isAsking, isRunning, isFailed, () => true]) {
    for (const row of threads) if (chosen.size < room && wanted(row)) chosen.add(row);
  }
  return [...threads.filter((row) => chosen.has(row)), threads.length - chosen.size];
}

function isAsking({ slot }: ThreadRow): boolean {
  return slot.state === 'needs_approval';
}

function isRunning({ slot }: ThreadRow): boolean {
  return slot.state === 'running';
}

function isFailed({ slot }: ThreadRow): boolean {
  return slot.state === 'failed' || slot.state === 'lost';
}

function drawRest(count: number, { glyphs }: Look): Row {
  return { left: [span(`${glyphs.ellipsis} ${count} more`, 'dim')], right: [] };
}

function timeOf({ runs }: SessionSlots, nowMs: number): string {
  const run = runs.at(-1);
  if (run?.startedAt === null || run === undefined) return '';
  return formatRunning((run.endedAt ?? nowMs) - run.startedAt);
}
