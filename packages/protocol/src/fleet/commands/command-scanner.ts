import { type CommandLine, CommandLines } from './command-lines.ts';
import { limits } from './limits.ts';

/** A task for one agent. `from` and `to` are its range in the text, as `slice` takes them. */
export interface AgentCommand {
  readonly type: 'agent';
  readonly agent: string;
  readonly message: string;
  readonly from: number;
  readonly to: number;
}

/** Tasks that run at the same time. */
export interface ParallelCommand {
  readonly type: 'parallel';
  readonly children: readonly AgentCommand[];
  readonly from: number;
  readonly to: number;
}

/** A command in a model's text. */
export type Command = AgentCommand | ParallelCommand;

/** A command that is not run, and therefore shown. */
export interface RefusedCommand {
  readonly reason: RefusalReason;
  /** The problem and what to do, in one sentence for the model. */
  readonly problem: string;
  readonly from: number;
  readonly to: number;
}

/** Why a command is not run. */
export type RefusalReason = keyof typeof problems;

const problems = {
  no_end:
    'a /parallel block has no /endparallel, so nothing of it was run: write it again with /endparallel at its end',
  no_start: 'there is an /endparallel without /parallel before it: begin the block with /parallel',
  empty: 'a /parallel block has no /agent line: name at least one agent in it',
  too_many: `a /parallel block has more than ${limits.childrenMax} /agent lines, so nothing of it was run: use several blocks`,
  nested: 'a /parallel block is inside another, so nothing of both was run: write them one after the other',
  incomplete: 'an /agent line has no agent or no message: write /agent <id> <message>',
  too_long: `a prompt or block has more than ${limits.commandCharsMax} characters, so nothing of it was run: make it shorter`,
} as const;

/** Receives the results of the scan. The shown and hidden ranges cover the whole text, in order. */
export interface CommandSink {
  readonly shown: (from: number, to: number) => void;
  readonly hidden: (from: number, to: number) => void;
  readonly command: (command: Command) => void;
  readonly refused: (refused: RefusedCommand) => void;
  /** The text of a range that was neither shown nor hidden yet. */
  readonly textAt: (from: number, to: number) => string;
}

/** The only parser of commands: whole texts and texts that are still being written pass through it line by line. */
export class CommandScanner {
  readonly #lines = new CommandLines();
  readonly #sink: CommandSink;
  #state: State = { type: 'text' };

  constructor(sink: CommandSink) {
    this.#sink = sink;
  }

  /** Where an incomplete prompt or block begins: nothing from there on can be shown or hidden yet. */
  get holdsFrom(): number | undefined {
    const state = this.#state;
    return state.type === 'text' || (state.type === 'block' && state.isRefused) ? undefined : state.from;
  }

  get isFenced(): boolean {
    return this.#lines.isFenced;
  }

  /** Scans the next line, without its ending, which `to` includes. Null for a line that is too long to be a command. */
  line(line: string | null, from: number, to: number): void {
    const read = this.#lines.read(line);
    if (this.#state.type === 'prompt' && read.kind !== 'other') this.#endPrompt(this.#state, from);
    const state = this.#state;
    if (state.type === 'text') this.#inText(read, from, to);
    else if (state.type === 'block') this.#inBlock(state, read, line ?? 'too long', from, to);
    else if (to - state.from > limits.commandCharsMax) this.#refuseLong(state, to);
  }

  end(at: number): void {
    const state = this.#state;
    if (state.type === 'prompt') this.#endPrompt(state, at);
    else if (state.type === 'block' && !state.isRefused) this.#refuse('no_end', state.from, at);
    this.#state = { type: 'text' };
  }

  #inText(read: CommandLine, from: number, to: number): void {
    switch (read.kind) {
      case 'agent':
        this.#state = { type: 'prompt', agent: read.agent, from, messageFrom: from + read.at };
        if (to - from > limits.commandCharsMax) this.#refuseLong(this.#state, to);
        break;
      case 'parallel':
        this.#state = { type: 'block', from, depth: 1, children: [], strays: [], isRefused: false };
        break;
      case 'agent_alone':
        this.#refuse('incomplete', from, to);
        break;
      case 'endparallel':
        this.#refuse('no_start', from, to);
        break;
      case 'other':
        this.#sink.shown(from, to);
    }
  }

  #inBlock(state: Block, read: CommandLine, line: string, from: number, to: number): void {
    switch (read.kind) {
      case 'agent':
        // One more than allowed is enough to know that there are too many.
        if (state.children.length <= limits.childrenMax) {
          state.children.push({ agent: read.agent, from, messageFrom: from + read.at });
        }
        break;
      case 'agent_alone':
        state.problem ??= 'incomplete';
        break;
      case 'parallel':
        state.depth++;
        state.problem = 'nested';
        break;
      case 'endparallel':
        state.depth--;
        break;
      case 'other':
        if (state.children.length === 0 && line.trim() !== '') state.strays.push({ from, to });
    }
    if (state.isRefused) this.#sink.shown(from, to);
    else if (to - state.from > limits.commandCharsMax) this.#refuseLong(state, to);
    if (state.depth > 0) return;
    if (!state.isRefused) this.#endBlock(state, from, to);
    this.#state = { type: 'text' };
  }

  #endPrompt({ agent, from, messageFrom }: Prompt, to: number): void {
    const message = this.#message(messageFrom, to);
    this.#state = { type: 'text' };
    if (message === '') return this.#refuse('incomplete', from, to);
    this.#sink.command({ type: 'agent', agent, message, from, to });
    this.#sink.hidden(from, to);
  }

  #endBlock(state: Block, endFrom: number, to: number): void {
    const { from } = state;
    const children = state.children.map((child, index): AgentCommand => {
      const childTo = state.children[index + 1]?.from ?? endFrom;
      const message = this.#message(child.messageFrom, childTo);
      return { type: 'agent', agent: child.agent, message, from: child.from, to: childTo };
    });
    const reason = state.problem ?? findProblem(children);
    if (reason !== undefined) return this.#refuse(reason, from, to);
    this.#sink.command({ type: 'parallel', children, from, to });
    let at = from;
    for (const stray of state.strays) {
      this.#sink.hidden(at, stray.from);
      this.#sink.shown(stray.from, stray.to);
      at = stray.to;
    }
    this.#sink.hidden(at, to);
  }

  #message(from: number, to: number): string {
    const text = this.#sink.textAt(from, to).replaceAll('\r\n', '\n');
    return text.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
  }

  #refuse(reason: RefusalReason, from: number, to: number): void {
    this.#sink.refused({ reason, problem: problems[reason], from, to });
    this.#sink.shown(from, to);
  }

  /** Rejects a prompt or block that is too long. The rest is shown as it arrives. A block stays a block until its end: commands in it are not run. */
  #refuseLong(state: Prompt | Block, to: number): void {
    const reason = 'too_long';
    // The range ends at the limit, however the text was cut when the limit was passed.
    const place = { from: state.from, to: state.from + limits.commandCharsMax };
    this.#sink.refused({ reason, problem: problems[reason], ...place });
    this.#sink.shown(state.from, to);
    if (state.type === 'block') state.isRefused = true;
    else this.#state = { type: 'text' };
  }
}

interface Prompt {
  readonly type: 'prompt';
  readonly agent: string;
  readonly from: number;
  readonly messageFrom: number;
}

interface Block {
  readonly type: 'block';
  readonly from: number;
  /** The nesting depth: 1, and one more for every block inside. */
  depth: number;
  readonly children: { readonly agent: string; readonly from: number; readonly messageFrom: number }[];
  /** Text before the first child: not part of a prompt, so it is not run and must be shown. */
  readonly strays: { readonly from: number; readonly to: number }[];
  problem?: RefusalReason;
  /** Whether the prompt or block is too long and was already shown. */
  isRefused: boolean;
}

type State = { readonly type: 'text' } | Prompt | Block;

function findProblem(children: readonly AgentCommand[]): RefusalReason | undefined {
  if (children.length === 0) return 'empty';
  if (children.length > limits.childrenMax) return 'too_many';
  return children.some(({ message }) => message === '') ? 'incomplete' : undefined;
}
