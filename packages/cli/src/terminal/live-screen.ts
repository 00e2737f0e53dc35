import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { textWidth } from './text-width.ts';

/** Draws at most this many rows, each narrower than the terminal. */
export type Render = (rowsMax: number) => string[];

/**
 * Rows that are redrawn in place, below the earlier output of the terminal.
 *
 * The hidden cursor stays at the start of the line below the rows. Only changed lines are written, at most 20 times per
 * second, in one write. Line wrapping is off, so that a line that the terminal measures wider is cut and does not shift the
 * rest. Cursor and wrapping are restored however the process exits (SPEC C2).
 */
export class LiveScreen {
  readonly #io: Io;
  readonly #render: Render;
  #shown: string[] = [];
  #drawnAtMs = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #undo: (() => void)[] = [];

  constructor(io: Io, render: Render) {
    this.#io = io;
    this.#render = render;
  }

  start(): void {
    const { stdout } = this.#io;
    const onResize = () => this.#resize();
    stdout.on('resize', onResize);
    this.#undo = [() => stdout.off('resize', onResize), this.#io.onExit(() => stdout.write(RESTORE))];
    if (this.#io.platform !== 'win32') this.#undo.push(this.#io.onSignal('SIGTSTP', () => this.#suspend()));
    stdout.write(HIDE);
    this.#draw();
  }

  /** Requests a redraw: now, or when the minimum time since the last one has passed. */
  update(): void {
    const waitMs = this.#drawnAtMs + limits.frameMsMin - this.#io.timers.now();
    if (waitMs <= 0) this.#draw();
    else this.#cancelTimer ??= this.#io.timers.after(waitMs, () => this.#draw());
  }

  /** Replaces the live rows by these lines and restores the terminal. */
  stop(lines: readonly string[]): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    for (const undo of this.#undo) undo();
    this.#undo = [];
    const text = lines.map((line) => `${line}\n`).join('');
    this.#io.stdout.write(`${up(this.#shown.length)}${ERASE_BELOW}${RESTORE}${text}`);
    this.#shown = [];
  }

  #draw(): void {
    // A pending timer would draw after the end.
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const { stdout, timers } = this.#io;
    this.#drawnAtMs = timers.now();
    // A slow terminal gets fewer redraws, not a queue of them.
    if (stdout.writableNeedDrain) return;
    const rowsMax = Math.max(1, this.#rows() - 1);
    const lines = this.#render(rowsMax).slice(0, rowsMax);
    const text = difference(this.#shown, lines);
    this.#shown = lines;
    if (text !== '') stdout.write(`${BEGIN_FRAME}${text}${END_FRAME}`);
  }

  /** After a resize, lines wider than the terminal take several rows. Erases everything and draws again. */
  #resize(): void {
    const { stdout } = this.#io;
    const columns = stdout.columns || 80;
    const taken = this.#shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(visibleWidth(line) / columns)), 0);
    stdout.write(`\r${up(Math.min(taken, Math.max(1, this.#rows() - 1)))}${ERASE_BELOW}`);
    this.#shown = [];
    this.#cancelTimer?.();
    this.#draw();
  }

  /** A terminal of unknown size reports 0. */
  #rows(): number {
    return this.#io.stdout.rows || 24;
  }

  /** Ctrl-Z: restores the terminal for the shell; after `fg` draws again below the output of the shell. */
  #suspend(): void {
    this.#io.stdout.write(RESTORE);
    this.#shown = [];
    this.#io.suspend();
    this.#io.stdout.write(HIDE);
    this.update();
  }
}

const ESC = '\u001b[';
const HIDE = `${ESC}?25l${ESC}?7l`;
const RESTORE = `${ESC}?25h${ESC}?7h`;
const ERASE_BELOW = `${ESC}J`;
const ERASE_REST = `${ESC}K`;
/** Synchronised update: supporting terminals show the frame at once, others ignore it. */
const BEGIN_FRAME = `${ESC}?2026h`;
const END_FRAME = `${ESC}?2026l`;

function up(count: number): string {
  return count > 0 ? `${ESC}${count}A` : '';
}

/** The output that turns one set of rows into another. Starts and ends below the rows. */
function difference(shown: readonly string[], lines: readonly string[]): string {
  const first = lines.findIndex((line, index) => line !== shown[index]);
  if (first === -1 && shown.length <= lines.length) return '';
  const from = first === -1 ? lines.length : first;
  let text = up(shown.length - from);
  for (const [index, line] of lines.entries()) {
    if (index < from) continue;
    text += line === shown[index] ? '\r\n' : `\r${line}${ERASE_REST}\r\n`;
  }
  return lines.length < shown.length ? text + ERASE_BELOW : text;
}

function visibleWidth(line: string): number {
  // oxlint-disable-next-line no-control-regex -- colour codes
  return textWidth(line.replace(/\u001b\[[\d;]*m/g, ''));
}
