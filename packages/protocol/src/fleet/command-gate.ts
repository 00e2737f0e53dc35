import { mayBecomeCommand } from './command-lines.ts';
import { type Command, CommandScanner, type RefusedCommand } from './command-scanner.ts';
import { limits } from './limits.ts';

/** What is known after one more piece of text. */
export interface CommandStep {
  /** What can be shown now. Over all steps it is what `parseCommands` shows of the whole text. */
  readonly shown: string;
  /** Commands that are complete now. */
  readonly commands: readonly Command[];
  readonly refused: readonly RefusedCommand[];
}

/** More than the longest command and the blanks around it. */
const START_CHARS = 32;

/**
 * `parseCommands` for a text that is still being written: it shows at once what cannot be part of a command, and keeps
 * back what may be. However the text is cut, the steps add up to the same.
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
  /** The line that is not complete, and where it begins. Both grow by appending only: looking inside costs its length. */
  #line = '';
  #lineFrom = 0;
  /** How it begins, as far as that says what it may become. */
  #start = '';
  /** What was shown or hidden ends here, inside the line where its beginning was shown early. */
  #doneTo = 0;
  /** The line cannot become a command any more: the rest of it is shown as it comes. */
  #isText = false;
  /** The line is also too long to be kept, and the scanner has been told. */
  #isLong = false;

  #shown = '';
  #commands: Command[] = [];
  #refused: RefusedCommand[] = [];

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

  /** The text is complete. The gate is ready for the next one. */
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
    if (this.#line.length > limits.commandCharsMax) this.#tellLong();
    else if (this.#isText) this.#showEarly(piece);
    else if (this.#isCertainlyText(piece)) {
      this.#isText = true;
      this.#showEarly(this.#line);
    }
  }

  /** Behind the start of a block there are only blanks, behind that of a prompt there is anything: the piece is enough. */
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
    else if (this.#line !== '' || ending !== '') this.#tell(this.#line, ending);
    this.#isText = this.#isLong = false;
  }

  /** Whatever the line was part of is too long too. So all of it is shown, and the rest can pass. */
  #tellLong(): void {
    this.#tell(null, '');
    this.#isLong = true;
  }

  #tell(line: string | null, ending: string): void {
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
