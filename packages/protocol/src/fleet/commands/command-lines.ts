import { limits } from './limits.ts';

/** The kind of one line of a model's text. */
export type CommandLine =
  | { readonly kind: 'agent'; readonly agent: string /** Where in the line the message begins. */; readonly at: number }
  /** A line with only `/agent`. */
  | { readonly kind: 'agent_alone' }
  | { readonly kind: 'parallel' }
  | { readonly kind: 'endparallel' }
  | { readonly kind: 'other' };

/**
 * Separates commands from all other text, line by line. It follows Markdown: in a code fence, after
 * `>` or indented by four columns there are no commands, because the model quotes text there.
 */
export class CommandLines {
  #fence: Fence | undefined;

  get isFenced(): boolean {
    return this.#fence !== undefined;
  }

  /** Classifies the next line, given without its ending, or null if it is too long to be a command. */
  read(line: string | null): CommandLine {
    if (line === null || line.length > limits.commandCharsMax) return other;
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (this.#fence !== undefined) {
      if (isClosing(text, this.#fence)) this.#fence = undefined;
      return other;
    }
    this.#fence = toFence(text);
    return this.#fence === undefined ? toCommandLine(text) : other;
  }
}

/** Whether a line that begins like this can still become a command. False positives are possible, false negatives are not. */
export function mayBecomeCommand(beginning: string): boolean {
  const match = /^ {0,3}(?:\/(.*))?$/s.exec(beginning);
  if (match === null) return false;
  const [, word = ''] = match;
  if (/^agent[ \t\r]|^(?:end)?parallel[ \t\r]+$/.test(word)) return true;
  return ['agent', 'parallel', 'endparallel'].some((name) => name.startsWith(word));
}

const other: CommandLine = { kind: 'other' };

function toCommandLine(text: string): CommandLine {
  const match = /^ {0,3}\/(agent|parallel|endparallel)(?=[ \t]|$)/.exec(text);
  if (match === null) return other;
  const [{ length }, name] = match;
  if (name === 'agent') {
    const target = /[ \t]+(\S+)[ \t]*/y;
    target.lastIndex = length;
    const agent = target.exec(text)?.[1];
    return agent === undefined ? { kind: 'agent_alone' } : { kind: 'agent', agent, at: target.lastIndex };
  }
  // With more text on the line, it is a sentence about the command.
  if (text.slice(length).trim() !== '') return other;
  return { kind: name === 'parallel' ? 'parallel' : 'endparallel' };
}

interface Fence {
  readonly mark: string;
  readonly columns: number;
}

/**
 * Parses a fence: three or more backticks or tildes, also at the start of a list item. Deeper indentation than Markdown allows counts
 * too: in doubt, text that a model may only be quoting is not run.
 */
function toFence(text: string): Fence | undefined {
  const match = /^([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})/.exec(text);
  const [whole = '', before = '', mark = ''] = match ?? [];
  // More backticks later in the line make it inline code.
  if (mark === '' || (mark.startsWith('`') && text.includes('`', whole.length))) return undefined;
  return { mark, columns: countColumns(before) };
}

/** The same marker, at least as long, alone on its line and not indented as code inside the fence would be. */
function isClosing(text: string, fence: Fence): boolean {
  const match = /^([ \t]*)(`{3,}|~{3,})[ \t]*$/.exec(text);
  const [, before = '', mark = ''] = match ?? [];
  return mark.startsWith(fence.mark) && countColumns(before) <= fence.columns + 3;
}

function countColumns(text: string): number {
  let columns = 0;
  for (const character of text) columns += character === '\t' ? 4 - (columns % 4) : 1;
  return columns;
}
