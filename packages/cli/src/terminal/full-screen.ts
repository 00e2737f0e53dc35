import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';

/** Draws the screen for this many columns and rows; excess rows are cut. */
export type DrawScreen = (columns: number, rows: number) => string[];

/**
 * A full-screen view on the alternate screen. The first screen is restored however the process exits (SPEC Y22). Only changed lines
 * are written, at most 20 times per second, in one write.
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

  /** Requests a redraw: now, or when the minimum time since the last one has passed. */
  update(): void {
    const waitMs = this.#drawnAtMs + limits.frameMsMin - this.#io.timers.now();
    if (waitMs <= 0) this.#paint();
    else this.#cancelTimer ??= this.#io.timers.after(waitMs, () => this.#paint());
  }

  /** Ctrl-Z: restores the terminal and suspends the process. */
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
    // A pending timer would draw after the end.
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const { stdout, timers } = this.#io;
    this.#drawnAtMs = timers.now();
    // A slow terminal gets fewer redraws, not a queue of them.
    if (stdout.writableNeedDrain) return;
    // A terminal of unknown size reports 0.
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
/** The alternate screen, without cursor and line wrapping: a line that is too wide is cut and shifts nothing. */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l${ESC}2J`;
const LEAVE = `${ESC}?7h${ESC}?25h${ESC}?1049l`;
const CLEAR = `${ESC}2J`;
