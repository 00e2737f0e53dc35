import { CommandGate, type CommandStep } from './command-gate.ts';
import type { Command } from './command-scanner.ts';
import { type TextRange, toShownText } from './parse-commands.ts';
import { type Delegation, toStatusLine } from './status-line.ts';

/**
 * How the text of a coordinator is sent to a reader while it is not known whether the iteration delegates. `strict`: when the
 * iteration has ended. `live`: at once, and retracted if it delegates. `off`: at once, and never retracted.
 */
export type GateMode = 'strict' | 'live' | 'off';

/** Options of {@link createGate}. */
export interface GateOptions {
  readonly mode: GateMode;
  /** Whether commands in the text are run, and therefore hidden. Default: true. */
  readonly commands?: boolean;
  /** Whether the agent has a roster. Without one its text passes at once, in every mode. */
  readonly canDelegate?: boolean;
}

/** An output for the reader, on the coordinator's stream. */
export type GateOutput =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'text_retract'; readonly from: number };

/**
 * How an iteration ended. `void`: the request is repeated and its text is void. `failed`: it is not repeated, and
 * its text so far is final.
 */
export type IterationEnd = 'ok' | 'failed' | 'void';

/** The gate of one turn for one reader. The same input always gives the same output. */
export interface Gate {
  /** Adds text of the coordinator. */
  text(delta: string): GateOutput[];
  /** Records a tool call of the coordinator that delegates. */
  delegate(delegation: Delegation): GateOutput[];
  /**
   * Ends the model request. `notRun`: the ranges of commands in its text that were not run in the end, so they are shown.
   */
  end(outcome: IterationEnd, notRun?: readonly TextRange[]): GateOutput[];
  /**
   * Ends the model request with only its text before the character `from`, followed by `rest`: the
   * remaining text is retracted. Delegations by tools remain, and commands in the text count as text.
   */
  cut(from: number, rest: string): GateOutput[];
  /** The state as JSON. `createGate` with the same options restores a gate from it that gives the same outputs. */
  save(): SavedGate;
}

/** The state of a gate, for `createGate` of the same version. */
export type SavedGate =
  | { readonly type: 'open'; readonly sent: number; readonly said: number }
  | {
      readonly type: 'held';
      /** Characters that were sent to the reader before the iteration. */
      readonly sent: number;
      readonly isAtLineStart: boolean;
      /** The text of the iteration, and the offsets at which tools delegated. */
      readonly raw: string;
      readonly delegated: readonly { readonly at: number; readonly delegation: Delegation }[];
    };

/**
 * Creates a gate. In an iteration that delegates, the text of the coordinator is replaced by one line: `→ delegating: …`.
 *
 * @example
 * const gate = createGate({ mode: 'strict' });
 * gate.text('I will ask two people.'); // []
 * gate.delegate({ children: 2 }); // []
 * gate.end('ok'); // [{ type: 'text', delta: '→ delegating: 2 in parallel\n' }]
 */
export function createGate({ mode, commands = true, canDelegate = true }: GateOptions, saved?: SavedGate): Gate {
  const isOpen = !canDelegate || (mode === 'off' && !commands);
  return isOpen ? new OpenGate(saved) : new GateState(mode, commands, saved);
}

/** A gate that passes all text at once. */
class OpenGate implements Gate {
  #sent = 0;
  /** Characters sent in the current iteration. */
  #said = 0;

  constructor(saved: SavedGate | undefined) {
    if (saved?.type !== 'open') return;
    this.#sent = saved.sent;
    this.#said = saved.said;
  }

  text(delta: string): GateOutput[] {
    if (delta === '') return [];
    this.#sent += delta.length;
    this.#said += delta.length;
    return [{ type: 'text', delta }];
  }

  delegate(): GateOutput[] {
    return [];
  }

  end(outcome: IterationEnd): GateOutput[] {
    return this.cut(outcome === 'void' ? 0 : this.#said, '');
  }

  cut(from: number, rest: string): GateOutput[] {
    const surplus = this.#said - from;
    const outputs: GateOutput[] = [];
    if (surplus > 0) outputs.push({ type: 'text_retract', from: (this.#sent -= surplus) });
    outputs.push(...this.text(rest));
    this.#said = 0;
    return outputs;
  }

  save(): SavedGate {
    return { type: 'open', sent: this.#sent, said: this.#said };
  }
}

class GateState implements Gate {
  readonly #mode: GateMode;
  readonly #commandGate: CommandGate | undefined;
  /** Characters of the turn's text that were sent to the reader, and whether they end with a line. */
  #sent = 0;
  #isAtLineStart = true;
  #iteration = new Iteration();

  constructor(mode: GateMode, commands: boolean, saved: SavedGate | undefined) {
    this.#mode = mode;
    this.#commandGate = commands ? new CommandGate() : undefined;
    if (saved?.type === 'held') this.#restore(saved);
  }

  /** Restores a saved state. It does not depend on how the text was cut, so the text is replayed in few pieces. */
  #restore({ sent, isAtLineStart, raw, delegated }: Extract<SavedGate, { type: 'held' }>): void {
    this.#sent = sent;
    this.#isAtLineStart = isAtLineStart;
    let from = 0;
    for (const { at, delegation } of delegated) {
      this.text(raw.slice(from, at));
      this.delegate(delegation);
      from = at;
    }
    this.text(raw.slice(from));
  }

  text(delta: string): GateOutput[] {
    const known = this.#iteration.delegations.length;
    const step = this.#commandGate?.push(delta) ?? { shown: delta, commands: [], refused: [] };
    const passing = this.#iteration.add(step, delta);
    if (this.#mode === 'strict') return [];
    if (this.#mode === 'off' || this.#iteration.delegations.length === 0) return this.#send(passing);
    return known === 0 ? this.#retract() : [];
  }

  delegate(delegation: Delegation): GateOutput[] {
    this.#iteration.delegations.push(delegation);
    this.#iteration.delegated.push({ at: this.#iteration.raw.length, delegation });
    return this.#mode === 'live' ? this.#retract() : [];
  }

  end(outcome: IterationEnd, notRun: readonly TextRange[] = []): GateOutput[] {
    const iteration = this.#iteration;
    if (this.#commandGate !== undefined) {
      iteration.add(this.#commandGate.end(), '');
      if (notRun.length > 0) iteration.show(notRun);
    }
    const outputs = this.#finish(iteration, outcome);
    const last = outputs.at(-1);
    if (last?.type === 'text') this.#isAtLineStart = last.delta.endsWith('\n');
    else if (iteration.sent > 0) this.#isAtLineStart = iteration.raw.charAt(iteration.sent - 1) === '\n';
    this.#iteration = new Iteration();
    return outputs;
  }

  cut(from: number, rest: string): GateOutput[] {
    const iteration = this.#iteration;
    const retracted = this.#retract(from);
    this.#commandGate?.end();
    iteration.raw = iteration.visible = iteration.raw.slice(0, from) + rest;
    iteration.delegations = iteration.delegated.map(({ delegation }) => delegation);
    return [...retracted, ...this.end('ok')];
  }

  save(): SavedGate {
    const { raw, sent, delegated } = this.#iteration;
    return {
      type: 'held',
      sent: this.#sent - sent,
      isAtLineStart: this.#isAtLineStart,
      raw,
      delegated: [...delegated],
    };
  }

  #finish(iteration: Iteration, outcome: IterationEnd): GateOutput[] {
    if (outcome === 'void') return this.#retract();
    // Commands of a failed request are not run, so they are shown like the rest.
    if (outcome === 'failed') return this.#send(iteration.raw.slice(iteration.sent));
    if (iteration.delegations.length === 0 || this.#mode === 'off') {
      return this.#send(iteration.visible.slice(iteration.sent));
    }
    const line = toStatusLine(iteration.delegations);
    return [...this.#retract(), ...this.#send(this.#isAtLineStart ? line : `\n${line}`)];
  }

  #send(text: string): GateOutput[] {
    if (text === '') return [];
    this.#sent += text.length;
    this.#iteration.sent += text.length;
    return [{ type: 'text', delta: text }];
  }

  /** Retracts the sent text of the iteration, from a character on. */
  #retract(from = 0): GateOutput[] {
    const surplus = this.#iteration.sent - from;
    if (surplus <= 0) return [];
    this.#sent -= surplus;
    this.#iteration.sent = from;
    return [{ type: 'text_retract', from: this.#sent }];
  }
}

/** The text and delegations of one model request. */
class Iteration {
  /** The whole text, and the text without commands. Both are equal up to the first command. */
  raw = '';
  visible = '';
  /** Characters that were sent to the reader: never beyond the first command, so they are the beginning of both texts. */
  sent = 0;
  delegations: Delegation[] = [];
  readonly #commands: { readonly command: Command; readonly delegation: Delegation }[] = [];
  /** Delegations by tools, with the length of the text before each. */
  readonly delegated: { readonly at: number; readonly delegation: Delegation }[] = [];
  #hasCommand = false;

  /** Adds a piece and returns the text that may pass: none after a command, because the command may still fail. */
  add(step: CommandStep, delta: string): string {
    const [first] = step.commands;
    const inFront =
      first === undefined ? step.shown : step.shown.slice(0, Math.max(0, first.from - this.visible.length));
    const passing = this.#hasCommand ? '' : inFront;
    this.raw += delta;
    this.visible += step.shown;
    this.#hasCommand ||= first !== undefined;
    for (const command of step.commands) {
      const delegation = toDelegation(command);
      this.#commands.push({ command, delegation });
      this.delegations.push(delegation);
    }
    return passing;
  }

  show(notRun: readonly TextRange[]): void {
    const undone = new Set<Delegation>();
    let at = 0;
    for (const { command, delegation } of this.#commands) {
      while (at < notRun.length && notRun[at]!.to <= command.from) at++;
      if (at < notRun.length && notRun[at]!.from <= command.from) undone.add(delegation);
    }
    this.delegations = this.delegations.filter((delegation) => !undone.has(delegation));
    this.visible = toShownText(this.raw, notRun);
  }
}

function toDelegation(command: Command): Delegation {
  return command.type === 'agent' ? { agent: command.agent } : { children: command.children.length };
}
