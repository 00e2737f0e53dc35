import { mayBecomeCommand } from './command-lines.ts';
import { type Command, CommandScanner, type RefusedCommand } from './command-scanner.ts';
import { limits } from './limits.ts';

/** The result of one more piece of text. */
export interface CommandStep {
  /** Text that can be shown now. All steps together show what `parseCommands` shows of the whole text. */
  readonly shown: string;
  /** Commands that are complete now. */
  readonly commands: readonly Command[];
  readonly refused: readonly RefusedCommand[];
}

/** Characters of the beginning of a line that is kept: more than the longest command with the blanks around it. */
const START_CHARS = 32;

/**
 * `parseCommands` for a text that is still being written: it shows at once what cannot be part of a command, and holds
 * back what may be. The steps add up to the same result however the text is cut.
 *
 * @example
 * const gate = new CommandGate();
 * for (const delta of deltas) show(gate.push(delta).shown);
 * show(gate.end().shown);
 */
export class CommandGate {
  #scanner = this.#createScanner();
  /** Complete lines that were neither shown nor hidden, and where they begin. */
  #held = '';
  #heldFrom = 0;
  /** The incomplete line, and where it begins. It grows only by appending: looking inside costs its length. */
  #line = '';
  #lineFrom = 0;
  /** The beginning of the line, which decides what the line may become. */
  #start = '';
  /** The end of what was shown or hidden: inside the line if its beginning was shown early. */
  #doneTo = 0;
  /** Whether the line cannot become a command any more: the rest of it is shown as it arrives. */
  #isText = false;
  /** Whether the line is also too long to be kept, and the scanner has been informed. */
  #isLong = false;

  #shown = '';
  #commands: Command[] = [];
  #refused: RefusedCommand[] = [];

  /** Adds the next piece of the text. */
  push(delta: string): CommandStep {
    let from = 0;
    for (let end = delta.indexOf('\n'); end !== -1; end = delta.indexOf('\n', from)) {
      this.#append(delta.slice(from, end));
      this.#endLine('\n');
      from = end + 1;
    }
    if (from < delta.length) this.#append(delta.slice(from));
    return this.#takeStep();
  }

  /** Ends the text. The gate is ready for the next one. */
  end(): CommandStep {
    this.#endLine('');
    this.#scanner.end(this.#lineFrom);
    this.#scanner = this.#createScanner();
    this.#held = '';
    this.#heldFrom = this.#lineFrom = this.#doneTo = 0;
    return this.#takeStep();
  }

  #append(piece: string): void {
    if (this.#isLong) return this.#passOn(piece);
    this.#line += piece;
    if (this.#line.length > limits.commandCharsMax) this.#passLong();
    else if (this.#isText) this.#showEarly(piece);
    else if (this.#isCertainlyText(piece)) {
      this.#isText = true;
      this.#showEarly(this.#line);
    }
  }

  /** Whether the piece shows that the line is text: after the start of a block only blanks may follow, after the start of a prompt any text. */
  #isCertainlyText(piece: string): boolean {
    const missing = START_CHARS - this.#start.length;
    this.#start += piece.slice(0, missing);
    if (this.#scanner.holdsFrom !== undefined) return false;
    if (this.#scanner.isFenced || !mayBecomeCommand(this.#start)) return true;
    return /[^ \t\r]/.test(piece.slice(missing)) && !/^ *\/agent/.test(this.#start);
  }

  #showEarly(text: string): void {
    this.#shown += text;
    this.#doneTo += text.length;
  }

  #endLine(ending: string): void {
    if (this.#isLong) this.#passOn(ending);
    else if (this.#line !== '' || ending !== '') this.#passLine(this.#line, ending);
    this.#isText = this.#isLong = false;
  }

  /** The prompt or block that the line belongs to is too long as well: all of it is shown, and the rest passes. */
  #passLong(): void {
    this.#passLine(null, '');
    this.#isLong = true;
  }

  #passLine(line: string | null, ending: string): void {
    this.#held += this.#line + ending;
    const to = this.#lineFrom + this.#line.length + ending.length;
    this.#scanner.line(line, this.#lineFrom, to);
    this.#line = this.#start = '';
    this.#lineFrom = to;
    this.#forget(this.#scanner.holdsFrom ?? to);
  }

  #passOn(text: string): void {
    this.#lineFrom += text.length;
    this.#forget(this.#lineFrom);
    this.#showEarly(text);
  }

  #forget(before: number): void {
    if (before === this.#heldFrom) return;
    this.#held = this.#held.slice(before - this.#heldFrom);
    this.#heldFrom = before;
  }

  #createScanner(): CommandScanner {
    const textAt = (from: number, to: number) => this.#held.slice(from - this.#heldFrom, to - this.#heldFrom);
    return new CommandScanner({
      textAt,
      shown: (from, to) => {
        this.#shown += textAt(Math.max(from, this.#doneTo), to);
        this.#doneTo = to;
      },
      hidden: (_from, to) => {
        this.#doneTo = to;
      },
      command: (command) => this.#commands.push(command),
      refused: (refused) => this.#refused.push(refused),
    });
  }

  #takeStep(): CommandStep {
    const step = { shown: this.#shown, commands: this.#commands, refused: this.#refused };
    this.#shown = '';
    this.#commands = [];
    this.#refused = [];
    return step;
  }
}
