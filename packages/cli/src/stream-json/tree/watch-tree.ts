import type { AgentEvent } from '@fleetloom/protocol/stream-json';
import type { Io } from '../../base/io.ts';
import { limits } from '../../base/limits.ts';
import { isRunning } from '../overview/agent-facts.ts';
import { foldOverview } from '../overview/fold-overview.ts';
import type { TimeSource } from '../overview/moment.ts';
import { createOverview, MAIN, type Overview } from '../overview/overview.ts';
import { cleanText } from '../../terminal/clean-text.ts';
import { LiveScreen } from '../../terminal/live-screen.ts';
import { detectLook, drawingWidth, type Look } from '../../terminal/look.ts';
import { paintRow } from '../../terminal/row.ts';
import { loadTextWidth, wrapText } from '../../terminal/text-width.ts';
import { type Ending, untilSignal } from '../../base/until-signal.ts';
import { writeText } from '../../base/write-text.ts';
import { DETAILS, FINAL_DETAILS } from './detail.ts';
import { fitOverview } from './fit-overview.ts';

/** Times, title and callback of the tree. */
export interface WatchOptions {
  /** `arrival` for a live stream, `line` for a recording. */
  timeSource: TimeSource;
  /** The clock of arrival times. */
  now: () => number;
  title?: string;
  onEvent?: (event: AgentEvent) => void;
}

/** Shows the events as a tree: live if the terminal supports it, and the final state at the end. */
export async function watchTree(io: Io, batches: AsyncIterable<AgentEvent[]>, options: WatchOptions): Promise<Ending> {
  const overview = createOverview(options.timeSource);
  const look = detectLook(io);
  let screen: Screen | undefined;
  // Starts after signal handlers are installed: an earlier signal would leave the cursor hidden.
  const shown = async function* () {
    screen = look.live ? startScreen(io, overview, look, options) : undefined;
    await loadTextWidth();
    yield* batches;
  };
  let ending: Ending = 'SIGTERM';
  try {
    ending = await untilSignal(io, shown(), (events) => {
      foldBatch(overview, events, options);
      screen?.update();
    });
  } finally {
    overview.ended = true;
    const lines = drawFinal(io, overview, look, options);
    if (screen) screen.stop(lines);
    else await writeText(io.stdout, lines.map((line) => `${line}\n`).join(''));
  }
  return ending;
}

function foldBatch(overview: Overview, events: readonly AgentEvent[], options: WatchOptions): void {
  const arrivalMs = options.timeSource === 'arrival' ? options.now() : undefined;
  for (const event of events) {
    foldOverview(overview, event, arrivalMs);
    options.onEvent?.(event);
  }
}

interface Screen {
  update(): void;
  stop(lines: readonly string[]): void;
}

function startScreen(io: Io, overview: Overview, look: Look, options: WatchOptions): Screen {
  let level = 0;
  const screen = new LiveScreen(io, (rows) => {
    const width = drawingWidth(io);
    const live = overview.timeSource === 'arrival' ? { nowMs: options.now() } : {};
    const drawing = { width, glyphs: look.glyphs, animationMs: io.timers.now(), ...live, ...titleOf(options) };
    const fitted = fitOverview(overview, drawing, DETAILS, rows, level);
    level = fitted.level;
    return fitted.rows.map((row) => paintRow(row, width, look));
  });
  screen.start();
  // Redraws for durations only while an agent is running.
  let cancelTick = () => {};
  const tick = () => {
    if ([...overview.agents.values()].some((agent) => isRunning(overview, agent))) screen.update();
    cancelTick = io.timers.after(limits.tickMs, tick);
  };
  tick();
  return {
    update: () => screen.update(),
    stop: (lines) => {
      cancelTick();
      screen.stop(lines);
    },
  };
}

/** The whole tree if it is not too long for a terminal, else a part of it; always with the answer. */
function drawFinal(io: Io, overview: Overview, look: Look, options: WatchOptions): string[] {
  const width = drawingWidth(io);
  const drawing = { width, glyphs: look.glyphs, ...titleOf(options) };
  const rowsMax = limits.finalRowsMax + countAnswerRows(overview, width);
  const { rows } = fitOverview(overview, drawing, FINAL_DETAILS, rowsMax);
  return rows.map((row) => paintRow(row, width, look));
}

function countAnswerRows(overview: Overview, width: number): number {
  const answer = overview.agents.get(MAIN)?.entries.findLast((entry) => entry.type === 'text');
  return answer?.type === 'text' ? wrapText(cleanText(answer.text), width - 2, limits.answerRowsMax).length : 0;
}

function titleOf({ title }: WatchOptions): { title?: string } {
  return title === undefined ? {} : { title };
}
