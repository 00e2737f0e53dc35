import type { RandomText } from '../../../../../../bench/random-text.ts';
import { EventQueue } from '../../../engines/program/process/event-queue.ts';
import { createNoProgramEngine } from '../../../engines/program/no-program.ts';
import { MAIN, type Program, type ProgramEngine, type ProgramEvent } from '../../../engines/program/program.ts';
import type { VirtualTime } from '../../suite/virtual-time.suite.ts';
import {
  asks,
  begins,
  calls,
  callsAgent,
  callsCustom,
  ends,
  gives,
  leaves,
  opens,
  says,
  turnBegins,
} from './test-program.suite.ts';

/** A program engine with randomly behaving programs. */
export interface WildPrograms extends ProgramEngine {
  /** The calls for which a program received a decision or result. */
  readonly answered: ReadonlySet<string>;
  /** The calls that a program ended without a decision or result. */
  readonly ended: ReadonlySet<string>;
  /** Ends all programs as after `kill -9` of the server. */
  killAll(): void;
}

interface Options {
  readonly random: RandomText;
  readonly time: VirtualTime;
  /** The programs request an approval right after they announced a call, instead of only waiting for a decision. */
  readonly isAsking?: boolean;
}

interface Endings {
  readonly answered: Set<string>;
  readonly ended: Set<string>;
}

/** Programs that ask for approvals and custom tools at random, withdraw some of them, and sometimes die. */
export function createWildPrograms(options: Options): WildPrograms {
  const answered = new Set<string>();
  const ended = new Set<string>();
  const alive = new Set<WildProgram>();
  let count = 0;
  return {
    ...createNoProgramEngine(''),
    answered,
    ended,
    open: async ({ sessionId }) => {
      const program = new WildProgram(options, `${sessionId} ${count++}`, { answered, ended });
      alive.add(program);
      return program.asProgram;
    },
    killAll: () => {
      for (const program of alive) program.kill();
      alive.clear();
    },
  };
}

class WildProgram {
  readonly #random: RandomText;
  readonly #time: VirtualTime;
  readonly #name: string;
  readonly #isAsking: boolean;
  readonly #record: Endings;
  readonly #queue = new EventQueue<ProgramEvent>({
    sizeMax: Infinity,
    takeMax: Infinity,
    onFull: () => {},
    onRoom: () => {},
  });
  /** Calls that wait for a decision or result, with the key of their agent. */
  readonly #open = new Map<string, string>();
  #child: { readonly key: string; readonly callId: string } | null = null;
  #calls = 0;
  #said = 0;
  #isInTurn = false;
  #isGone = false;

  constructor({ random, time, isAsking = false }: Options, name: string, record: Endings) {
    this.#isAsking = isAsking;
    this.#random = random;
    this.#time = time;
    this.#name = name;
    this.#record = record;
  }

  get asProgram(): Program {
    return {
      events: this.#queue,
      say: () => {
        this.#said++;
        this.#later(() => this.#begin());
      },
      interrupt: () => this.#later(() => this.#stop()),
      stopThread: (key) => this.#later(() => this.#stopChild(key)),
      setModel: () => {},
      setPermissionMode: () => {},
      answer: (callId) => this.#take(callId),
      giveResult: (callId) => this.#take(callId),
      controls: [],
      control: async () => ({ type: 'unsupported' }),
      vitals: () => ({ pid: null, isAlive: !this.#isGone, lastByteAt: null }),
      close: async () => this.#exit('closed', true),
    };
  }

  kill(): void {
    this.#isGone = true;
  }

  #begin(): void {
    if (this.#isInTurn || this.#said === 0) return;
    this.#said = 0;
    this.#isInTurn = true;
    this.#emit({ type: 'opened', key: MAIN, conversation: 'c1', version: null }, turnBegins, begins());
    const asked = Array.from({ length: 1 + this.#random.below(3) }, () => this.#ask(MAIN)).flat();
    const hasChild = this.#random.below(3) === 0;
    this.#emit(...asked, ...(hasChild ? this.#spawn() : []), ends());
    if (this.#child !== null) {
      const { key } = this.#child;
      this.#emit(begins(key), ...this.#ask(key), ends(key));
    }
    this.#later(() => this.#misbehave());
  }

  #spawn(): ProgramEvent[] {
    const callId = this.#nextCall();
    this.#child = { key: `child ${callId}`, callId };
    return [callsAgent(callId), opens(this.#child.key, callId)];
  }

  #ask(key: string): ProgramEvent[] {
    const callId = this.#nextCall();
    this.#open.set(callId, key);
    if (key === MAIN && this.#random.below(3) === 0) return [callsCustom(callId)];
    return [calls(callId, 'ask', key), ...(this.#isAsking ? [asks(callId, key)] : [])];
  }

  #nextCall(): string {
    return `${this.#name} ${this.#calls++}`;
  }

  #take(callId: string): void {
    const owner = this.#open.get(callId);
    // A program that has ended the call does not receive the decision.
    if (owner === undefined || this.#isGone) return;
    this.#record.answered.add(callId);
    this.#emit({ type: 'answered', key: owner, callId });
    this.#later(() => {
      const key = this.#open.get(callId);
      if (key === undefined) return;
      this.#open.delete(callId);
      this.#emit(gives(callId, key));
      this.#finish();
    });
  }

  #finish(): void {
    if (!this.#isInTurn) return;
    // A sub-agent that waits for nothing is done.
    if (![...this.#open.values()].some((owner) => owner === this.#child?.key)) this.#endChild('completed');
    if (this.#open.size === 0) this.#end('done');
  }

  /** Withdraws an approval, continues without a decision, or dies. */
  #misbehave(): void {
    const [first] = this.#open;
    const chance = this.#random.below(8);
    if (chance === 0) return this.#exit('it was ended by SIGSEGV', false);
    if (first === undefined || chance > 2) return;
    const [callId, key] = first;
    this.#endAlone(callId);
    // The result of the call follows a withdrawal, and is used if a decision arrived at the same moment.
    if (chance === 1) this.#emit({ type: 'ask_withdrawn', key, callId });
    this.#emit(gives(callId, key));
    this.#finish();
  }

  #stop(): void {
    if (!this.#isInTurn) return;
    for (const [callId, key] of this.#open) {
      this.#endAlone(callId);
      this.#emit(gives(callId, key));
    }
    this.#endChild('stopped');
    this.#end('stopped');
  }

  #stopChild(key: string): void {
    if (this.#child?.key !== key) return;
    for (const [callId, owner] of this.#open) {
      if (owner !== key) continue;
      this.#endAlone(callId);
      this.#emit(gives(callId, key));
    }
    this.#endChild('stopped');
    this.#finish();
  }

  #endAlone(callId: string): void {
    this.#record.ended.add(callId);
    this.#open.delete(callId);
  }

  #endChild(status: 'completed' | 'stopped'): void {
    if (this.#child === null) return;
    const { key, callId } = this.#child;
    this.#child = null;
    this.#emit(leaves(key, status), gives(callId));
  }

  #end(type: 'done' | 'stopped'): void {
    this.#isInTurn = false;
    this.#open.clear();
    const isMoreToCome = this.#said > 0;
    if (type === 'done') this.#emit(begins(), says(`Done ${this.#calls}.`), ends());
    this.#emit({ type: 'turn_ended', key: MAIN, outcome: { type }, isMoreToCome });
    if (isMoreToCome) this.#later(() => this.#begin());
  }

  #exit(message: string, isWanted: boolean): void {
    if (this.#isGone) return;
    this.#emit({ type: 'exited', key: MAIN, message, isWanted });
    this.#isGone = true;
    this.#queue.end();
  }

  #later(run: () => void): void {
    this.#time.schedule(() => this.#isGone || run(), this.#random.below(2_000));
  }

  #emit(...events: ProgramEvent[]): void {
    if (!this.#isGone) this.#queue.push(events, 0);
  }
}
