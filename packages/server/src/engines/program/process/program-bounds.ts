import { jsonBytesAtLeast } from '../../../base/json/json-bytes.ts';
import { programLimits } from '../limits.ts';
import type { ProgramEvent } from '../program.ts';

/** Limits the open and total calls, threads and work of one program process: the session keeps them in memory and searches them. */
export class ProgramBounds {
  readonly #limits: ProgramBoundsLimits;
  /** Calls without a result. */
  readonly #calls = new Map<string, { readonly key: string; readonly bytes: number }>();
  readonly #callsOf = new Map<string, number>();
  readonly #threads = new Set<string>();
  readonly #works = new Set<string>();
  #callCount = 0;
  #bytes = 0;

  constructor(limits: ProgramBoundsLimits = programLimits) {
    this.#limits = limits;
  }

  /** Counts events. Returns why the program must be ended; undefined while it is within the limits. */
  take(events: readonly ProgramEvent[]): string | undefined {
    for (const event of events) {
      // The name of the block was checked when the block began.
      if (event.type === 'block_delta') continue;
      this.#count(event);
      const problem = this.#findLongName(event) ?? this.#findExcess(event.key);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #count(event: ProgramEvent): void {
    const { key } = event;
    switch (event.type) {
      case 'call': {
        const bytes = jsonBytesAtLeast(event.input);
        this.#close(event.callId);
        this.#calls.set(event.callId, { key, bytes });
        this.#callsOf.set(key, (this.#callsOf.get(key) ?? 0) + 1);
        this.#bytes += bytes;
        this.#callCount++;
        return;
      }
      case 'result':
        return this.#close(event.callId);
      case 'thread_opened':
        return void this.#threads.add(key);
      case 'turn_ended':
      case 'thread_ended':
        return this.#closeAll(key);
      case 'work_started':
        return void this.#works.add(event.workId);
      case 'work_ended':
        return void this.#works.delete(event.workId);
    }
  }

  #close(callId: string): void {
    const call = this.#calls.get(callId);
    if (call === undefined) return;
    this.#calls.delete(callId);
    this.#callsOf.set(call.key, (this.#callsOf.get(call.key) ?? 1) - 1);
    this.#bytes -= call.bytes;
  }

  /** Closes the calls of an agent whose turn has ended: an interrupted call may not have a result. */
  #closeAll(key: string): void {
    if ((this.#callsOf.get(key) ?? 0) === 0) return;
    for (const [callId, call] of this.#calls) if (call.key === key) this.#close(callId);
  }

  #findLongName(event: ProgramEvent): string | undefined {
    for (const field of NAMES) {
      const name: unknown = (event as { readonly [name in Name]?: unknown })[field];
      if (typeof name === 'string' && name.length > this.#limits.programNameCharsMax)
        return `it used a name of ${name.length} characters, and ${this.#limits.programNameCharsMax} are allowed`;
    }
    return undefined;
  }

  #findExcess(key: string): string | undefined {
    const limits = this.#limits;
    const counts: readonly [number, number, string][] = [
      [this.#callsOf.get(key) ?? 0, limits.programAgentCallsMax, 'open tool calls of one agent'],
      [this.#calls.size, limits.programOpenCallsMax, 'open tool calls'],
      [this.#bytes, limits.programOpenCallBytesMax, 'bytes of input of open tool calls'],
      [this.#callCount, limits.programCallsMax, 'tool calls'],
      [this.#threads.size, limits.programThreadsMax, 'sub-agents'],
      [this.#works.size, limits.programWorksMax, 'commands and tasks in the background'],
    ];
    const found = counts.find(([count, max]) => count > max);
    return found === undefined ? undefined : `it has ${found[0]} ${found[2]}, and ${found[1]} are allowed`;
  }
}

/** Limits that tests lower. */
export type ProgramBoundsLimits =
  Pick<
    typeof programLimits,
    | 'programNameCharsMax'
    | 'programAgentCallsMax'
    | 'programOpenCallsMax'
    | 'programOpenCallBytesMax'
    | 'programCallsMax'
    | 'programThreadsMax'
    | 'programWorksMax'
  > extends infer Limits
    ? { readonly [name in keyof Limits]: number }
    : never;

/** Fields with names of agents, calls, blocks, work and conversations. */
const NAMES = ['key', 'parentKey', 'callId', 'block', 'workId', 'agentName', 'conversation'] as const;
type Name = (typeof NAMES)[number];
