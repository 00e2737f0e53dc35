import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { textWidth } from './text-width.ts';

/** Draws the picture in at most so many rows, each narrower than the terminal. */
export type Render = (rowsMax: number) => string[];

/**
 * A picture that is redrawn in place below what was on the terminal before.
 *
 * The cursor waits hidden at the start of the line below the picture. Only lines that changed are written, at most
 * 20 times a second, in one write. Line wrapping is off meanwhile, so that a line that a terminal finds wider than we
 * do is cut and does not shift the rest. Whatever ends the process, the cursor and the wrapping come back (SPEC C2).
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

  /** Something has changed: draws at once, or as soon as the last picture is old enough. */
  update(): void {
    const waitMs = this.#drawnAtMs + limits.frameMsMin - this.#io.timers.now();
    if (waitMs <= 0) this.#draw();
    else this.#cancelTimer ??= this.#io.timers.after(waitMs, () => this.#draw());
  }

  /** Takes the picture away, prints these lines in its place and gives the terminal back. */
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
    // One that is due but has not gone off yet would draw after the end.
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const { stdout, timers } = this.#io;
    this.#drawnAtMs = timers.now();
    // A terminal that cannot keep up gets fewer pictures, not a queue of them.
    if (stdout.writableNeedDrain) return;
    const rowsMax = Math.max(1, this.#rows() - 1);
    const lines = this.#render(rowsMax).slice(0, rowsMax);
    const text = difference(this.#shown, lines);
    this.#shown = lines;
    if (text !== '') stdout.write(`${BEGIN_FRAME}${text}${END_FRAME}`);
  }

  /** The terminal has moved the lines: those wider than the new width now take several rows. Erases all and draws anew. */
  #resize(): void {
    const { stdout } = this.#io;
    const columns = stdout.columns || 80;
    const taken = this.#shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(visibleWidth(line) / columns)), 0);
    stdout.write(`\r${up(Math.min(taken, Math.max(1, this.#rows() - 1)))}${ERASE_BELOW}`);
    this.#shown = [];
    this.#cancelTimer?.();
    this.#draw();
  }

  /** A terminal that does not know its size says 0. */
  #rows(): number {
    return this.#io.stdout.rows || 24;
  }

  /** Ctrl-Z: the shell gets a terminal in order; on return the picture is drawn anew below what was typed. */
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
/** Synchronised update: terminals that know it show the frame at once, the others ignore it. */
const BEGIN_FRAME = `${ESC}?2026h`;
const END_FRAME = `${ESC}?2026l`;

function up(count: number): string {
  return count > 0 ? `${ESC}${count}A` : '';
}

/** What to write to turn the one picture into the other. Begins and ends below the picture. */
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
  // oxlint-disable-next-line no-control-regex -- our own colour codes
  return textWidth(line.replace(/\u001b\[[\d;]*m/g, ''));
}
