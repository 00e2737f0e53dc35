import { createSlots, type FleetEvent, foldSlots, type SessionSlots } from '@fleetloom/protocol/fleet';
import { limits } from '../../base/limits.ts';
import { Activity } from './activity.ts';
import type { OpenCall } from './pending-calls.ts';
import { BurnRate } from './burn-rate.ts';
import { Transcript } from './transcript.ts';

/** The state of a session at one moment, from its events. */
export interface Scene {
  readonly slots: SessionSlots;
  readonly activity: Activity;
  readonly burn: BurnRate;
  /** Open tool calls by id. */
  readonly calls: ReadonlyMap<string, OpenCall>;
  transcriptOf(key: string): Transcript | undefined;
}

/** The live state: applies one event. */
export class Seen implements Scene {
  // Pages show transcripts, rows only the end of a text.
  slots: SessionSlots = createSlots({ textCharsMax: limits.lineCharsMax });
  readonly activity = new Activity();
  readonly burn = new BurnRate();
  readonly calls = new Map<string, OpenCall>();
  readonly #transcripts = new Map<string, Transcript>();

  take(event: FleetEvent): void {
    this.slots = foldSlots(this.slots, event);
    this.activity.take(event);
    this.burn.take(event);
    noteCall(this.calls, event);
    const threadId = this.#threadOf(event);
    if (threadId !== null) this.#transcript(threadId).take(event);
  }

  transcriptOf(key: string): Transcript | undefined {
    return this.#transcripts.get(key);
  }

  /** Events of the session outside of its turns are shown in the transcript of its coordinator. */
  #threadOf(event: FleetEvent): string | null {
    if ('thread_id' in event && typeof event.thread_id === 'string') return event.thread_id;
    if (event.type !== 'session_error' && event.type !== 'files_rewound') return null;
    return this.slots.runs.at(-1)?.slots.find(({ depth }) => depth === 0)?.threadId ?? null;
  }

  #transcript(key: string): Transcript {
    const known = this.#transcripts.get(key);
    // Moved to the end: the transcript that was silent longest is evicted first.
    if (known !== undefined) this.#transcripts.delete(key);
    const transcript = known ?? new Transcript();
    this.#transcripts.set(key, transcript);
    const [oldest] = this.#transcripts.keys();
    if (this.#transcripts.size > limits.transcriptsMax && oldest !== undefined) this.#transcripts.delete(oldest);
    return transcript;
  }
}

/** Adds or removes the open tool call of an event. */
export function noteCall(calls: Map<string, OpenCall>, event: FleetEvent): void {
  if (event.type === 'tool_start') {
    calls.set(event.tool_use_id, { tool: event.tool, input: event.input, startedAt: event.ts });
  } else if (event.type === 'tool_call') calls.delete(event.tool_use_id);
  // Without an active run, no thread is running.
  else if (event.type === 'done') calls.clear();
}
