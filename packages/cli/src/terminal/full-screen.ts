import type { Io } from '../io.ts';
import { limits } from '../limits.ts';

/** Draws the picture for so many columns and rows; what is more than that is cut. */
export type DrawScreen = (columns: number, rows: number) => string[];

/**
 * The whole terminal as one picture, on its second screen: what was there before comes back in the end, whatever the end
 * is (SPEC Y22). Only lines that changed are written, at most 20 times a second, in one write.
 */
export class FullScreen {
  readonly #io: Io;
  readonly #draw: DrawScreen;
  #shown: string[] = [];
  #drawnAtMs = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #undo: (() => void)[] = [];

  constructor(io: Io, draw: DrawScreen) {
    this.#io = io;
    this.#draw = draw;
  }

  start(): void {
    const { stdout } = this.#io;
    const onResize = () => this.#repaint();
    stdout.on('resize', onResize);
    this.#undo = [() => stdout.off('resize', onResize), this.#io.onExit(() => stdout.write(LEAVE))];
    stdout.write(ENTER);
    this.#paint();
  }

  /** Something has changed: draws at once, or as soon as the last picture is old enough. */
  update(): void {
    const waitMs = this.#drawnAtMs + limits.frameMsMin - this.#io.timers.now();
    if (waitMs <= 0) this.#paint();
    else this.#cancelTimer ??= this.#io.timers.after(waitMs, () => this.#paint());
  }

  /** The shell gets its terminal for a while. */
  suspend(): void {
    this.#io.stdout.write(LEAVE);
    this.#io.suspend();
    this.#io.stdout.write(ENTER);
    this.#repaint();
  }

  stop(): void {
    this.#cancelTimer?.();
    for (const undo of this.#undo) undo();
    this.#undo = [];
    this.#io.stdout.write(LEAVE);
  }

  #repaint(): void {
    this.#cancelTimer?.();
    this.#shown = [];
    this.#io.stdout.write(CLEAR);
    this.#paint();
  }

  #paint(): void {
    // One that is due but has not gone off yet would draw after the end.
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const { stdout, timers } = this.#io;
    this.#drawnAtMs = timers.now();
    // A terminal that cannot keep up gets fewer pictures, not a queue of them.
    if (stdout.writableNeedDrain) return;
    // One that does not know its size says 0.
    const rows = stdout.rows || 24;
    const lines = this.#draw(stdout.columns || 80, rows).slice(0, rows);
    const text = Array.from({ length: Math.max(lines.length, this.#shown.length) }, (_, row) => {
      const line = lines[row] ?? '';
      return line === (this.#shown[row] ?? '') ? '' : `${ESC}${row + 1};1H${line}${ESC}K`;
    }).join('');
    this.#shown = lines;
    if (text !== '') stdout.write(`${ESC}?2026h${text}${ESC}?2026l`);
  }
}

const ESC = '\u001b[';
/** The second screen, without a cursor, and without wrapping: a line that is found too wide is cut, and shifts nothing. */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l${ESC}2J`;
const LEAVE = `${ESC}?7h${ESC}?25h${ESC}?1049l`;
const CLEAR = `${ESC}2J`;
