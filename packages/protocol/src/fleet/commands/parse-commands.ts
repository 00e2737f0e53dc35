import { type Command, CommandScanner, type RefusedCommand } from './command-scanner.ts';

/** The result of parsing a text with commands. */
export interface ParsedCommands {
  /** The commands to run. */
  readonly commands: readonly Command[];
  /** Invalid commands, which are not run. */
  readonly refused: readonly RefusedCommand[];
  /** The whole text in order: commands to run are hidden, all other text is shown. */
  readonly segments: readonly CommandSegment[];
  /** The shown segments as one text. */
  readonly shown: string;
}

/** A part of a text that is shown or hidden. */
export interface CommandSegment extends TextRange {
  readonly type: 'shown' | 'hidden';
}

/** Part of a text, as `slice` takes it. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Parses the commands in the text of a model: `/agent <id> <message>` at the beginning of a line, and `/parallel` with such
 * lines up to `/endparallel`. A message ends at the next command, or at the end of its block or the text. In code
 * fences, after `>` and indented by four columns there are no commands.
 *
 * @example
 * const { commands, shown } = parseCommands('Let me ask.\n/agent librarian Find the map.');
 * // commands: [{ type: 'agent', agent: 'librarian', message: 'Find the map.', from: 12, to: 42 }], shown: 'Let me ask.\n'
 */
export function parseCommands(text: string): ParsedCommands {
  const commands: Command[] = [];
  const refused: RefusedCommand[] = [];
  const segments: CommandSegment[] = [];
  const scanner = new CommandScanner({
    shown: (from, to) => addSegment(segments, { type: 'shown', from, to }),
    hidden: (from, to) => addSegment(segments, { type: 'hidden', from, to }),
    command: (command) => commands.push(command),
    refused: (one) => refused.push(one),
    textAt: (from, to) => text.slice(from, to),
  });
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const to = end === -1 ? text.length : end + 1;
    scanner.line(text.slice(from, end === -1 ? to : end), from, to);
    from = to;
  }
  scanner.end(text.length);
  const shown = segments.filter(({ type }) => type === 'shown').map(({ from, to }) => text.slice(from, to));
  return { commands, refused, segments, shown: shown.join('') };
}

/** The shown text, given the ranges of commands that were not run, in order. */
export function toShownText(text: string, notRun: readonly TextRange[]): string {
  let shown = '';
  let at = 0;
  for (const { type, from, to } of parseCommands(text).segments) {
    if (type === 'shown') shown += text.slice(from, to);
    else {
      while (at < notRun.length && notRun[at]!.to <= from) at++;
      for (let next = at; next < notRun.length && notRun[next]!.from < to; next++) {
        shown += text.slice(Math.max(from, notRun[next]!.from), Math.min(to, notRun[next]!.to));
      }
    }
  }
  return shown;
}

/** Quotes a result for a model without tools, so that repeating it does not run commands. */
export function quoteResult(text: string): string {
  return text.replace(/^/gm, '> ');
}

function addSegment(segments: CommandSegment[], segment: CommandSegment): void {
  const last = segments.at(-1);
  if (segment.from === segment.to) return;
  if (last?.type === segment.type) segments[segments.length - 1] = { ...last, to: segment.to };
  else segments.push(segment);
}
