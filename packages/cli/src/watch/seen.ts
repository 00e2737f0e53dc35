import { createSlots, type FleetEvent, foldSlots, type SessionSlots } from '@fleetloom/protocol/fleet';
import { limits } from '../limits.ts';
import { Activity } from './activity.ts';
import type { OpenCall } from './asks.ts';
import { BurnRate } from './burn-rate.ts';
import { Transcript } from './transcript.ts';

/** What a picture is drawn of: all that is known of a session at some moment. */
export interface Scene {
  readonly slots: SessionSlots;
  readonly activity: Activity;
  readonly burn: BurnRate;
  /** Calls whose end was not told, by their ids. */
  readonly calls: ReadonlyMap<string, OpenCall>;
  transcriptOf(key: string): Transcript | undefined;
}

/** The present, event by event. */
export class Seen implements Scene {
  // Pages show transcripts, and rows the end of a text.
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
    if ('thread_id' in event && typeof event.thread_id === 'string') this.#transcript(event.thread_id).take(event);
  }

  transcriptOf(key: string): Transcript | undefined {
    return this.#transcripts.get(key);
  }

  #transcript(key: string): Transcript {
    const known = this.#transcripts.get(key);
    // Put behind the others: who was silent longest is forgotten first.
    if (known !== undefined) this.#transcripts.delete(key);
    const transcript = known ?? new Transcript();
    this.#transcripts.set(key, transcript);
    const [oldest] = this.#transcripts.keys();
    if (this.#transcripts.size > limits.transcriptsMax && oldest !== undefined) this.#transcripts.delete(oldest);
    return transcript;
  }
}

export function noteCall(calls: Map<string, OpenCall>, event: FleetEvent): void {
  if (event.type === 'tool_start') {
    calls.set(event.tool_use_id, { tool: event.tool, input: event.input, startedAt: event.ts });
  } else if (event.type === 'tool_call') calls.delete(event.tool_use_id);
  // Nothing runs in a session in which no run is under way.
  else if (event.type === 'done') calls.clear();
}
