import { EventEmitter } from 'node:events';
import type { Output } from '../src/base/io.ts';

/**
 * A terminal that interprets the escape codes of Fleetloom, so that tests see the same screen as a user. Lines wider than the screen are
 * cut while wrapping is off and wrapped while it is on; a narrower width reflows them as most terminals do.
 */
export class FakeTerminal extends EventEmitter implements Output {
  isTTY = true;
  columns: number;
  rows: number;
  writableNeedDrain = false;
  cursorShown = true;
  wraps = true;
  /** Everything written, in order. */
  writes: string[] = [];
  /** Whether the alternate screen is shown. */
  isAlternate = false;
  #lines: string[][] = [[]];
  #row = 0;
  #column = 0;
  /** The first screen at the time when the alternate one was entered. */
  #first: { lines: string[][]; row: number; column: number } | undefined;

  constructor(columns = 80, rows = 24) {
    super();
    this.columns = columns;
    this.rows = rows;
  }

  get text(): string {
    return this.writes.join('');
  }

  /** All lines, including lines that have scrolled off the screen. */
  get lines(): string[] {
    return this.#lines.map((line) =>
      Array.from(line, (cell) => cell ?? ' ')
        .join('')
        .trimEnd(),
    );
  }

  /** The lines on the screen. */
  get screen(): string[] {
    return this.lines.slice(this.#top());
  }

  write(given: string | Uint8Array): boolean {
    const text = typeof given === 'string' ? given : Buffer.from(given).toString();
    this.writes.push(text);
    // oxlint-disable-next-line no-control-regex -- a terminal obeys them
    for (const [code, final] of text.matchAll(/\u001b\[[?\d;]*([A-Za-z])|[^\u001b]/gsu)) {
      if (final === undefined) this.#put(code);
      else this.#obey(code.slice(2, -1), final);
    }
    return true;
  }

  resize(columns: number, rows: number): void {
    if (columns < this.columns) this.#reflow(columns);
    this.columns = columns;
    this.rows = rows;
    this.emit('resize');
  }

  #top(): number {
    return Math.max(0, this.#lines.length - this.rows);
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') {
      this.#row += 1;
      this.#column = 0;
      if (this.#row === this.#lines.length) this.#lines.push([]);
    } else {
      if (this.#column >= this.columns) {
        if (this.wraps) this.#put('\n');
        else this.#column = this.columns - 1;
      }
      const line = (this.#lines[this.#row] ??= []);
      line[this.#column] = character;
      this.#column += 1;
    }
  }

  #obey(parameters: string, final: string): void {
    const count = Number.parseInt(parameters, 10) || 1;
    if (final === 'A') this.#row = Math.max(this.#top(), this.#row - count);
    else if (final === 'K') this.#lines[this.#row]?.splice(Math.min(this.#column, this.columns - 1));
    else if (final === 'H') {
      const [row = 1, column = 1] = parameters.split(';').map((each) => Number(each) || 1);
      // A row below the screen means its last row.
      this.#row = this.#top() + Math.min(row, this.rows) - 1;
      while (this.#lines.length <= this.#row) this.#lines.push([]);
      this.#column = column - 1;
    } else if (final === 'J' && parameters === '2') {
      this.#lines = this.#lines.slice(0, this.#top());
      while (this.#lines.length <= this.#row) this.#lines.push([]);
    } else if (final === 'J') {
      this.#lines[this.#row]?.splice(this.#column);
      this.#lines.splice(this.#row + 1);
    } else if (parameters === '?25') this.cursorShown = final === 'h';
    else if (parameters === '?7') this.wraps = final === 'h';
    else if (parameters === '?1049') this.#switch(final === 'h');
    else if (final !== 'm' && parameters !== '?2026')
      throw new Error(`The fake terminal does not know ${parameters}${final}`);
  }

  /** Enters or leaves the alternate screen. Leaving restores the first screen; leaving twice has no effect. */
  #switch(isAlternate: boolean): void {
    if (isAlternate === this.isAlternate) return;
    this.isAlternate = isAlternate;
    if (isAlternate) this.#first = { lines: this.#lines, row: this.#row, column: this.#column };
    const { lines, row, column } = isAlternate
      ? { lines: [[]], row: 0, column: 0 }
      : (this.#first ?? { lines: [[]], row: 0, column: 0 });
    this.#lines = lines;
    this.#row = row;
    this.#column = column;
  }

  #reflow(columns: number): void {
    const lines: string[][] = [];
    let row = 0;
    for (const [index, line] of this.#lines.entries()) {
      if (index === this.#row) row = lines.length;
      for (let from = 0; from === 0 || from < line.length; from += columns)
        lines.push(line.slice(from, from + columns));
    }
    this.#lines = lines;
    this.#row = row;
  }
}
