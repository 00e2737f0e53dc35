import {
  createSlots,
  type CustomTools,
  describeRewind,
  type FleetEvent,
  foldSlots,
  type SessionHealth,
  type SessionSlots,
  type Slot,
  type StreamEvent,
  threadKey,
} from '@fleetloom/protocol/fleet';
import { builtInToolNames, type Session, toRoster } from '@fleetloom/protocol/managed-agents';
import { limits } from './limits.ts';
import { type Mark, ThreadTrack } from './thread-track.ts';
import { WorkspaceLog } from './workspace-log.ts';

/** Two threads wrote the same file shortly after each other. */
export interface Conflict {
  readonly path: string;
  readonly at: number;
  readonly keys: readonly [string, string];
}

/** One session: the fold of its log, and the tracks of its threads over time. */
export class SessionModel {
  readonly id: string;
  slots: SessionSlots = createSlots({ textCharsMax: limits.textCharsMax });
  readonly tracks = new Map<string, ThreadTrack>();
  readonly conflicts: Conflict[] = [];
  /** The recorded changes of the workspace. */
  readonly workspace = new WorkspaceLog();
  /** The session as the API returns it. */
  record: Session | undefined;
  /** The server's report on running threads, while a stalled thread is on the screen. */
  health: SessionHealth | undefined;
  customTools: CustomTools = new Set();
  /** Whole inputs of tools that are not built in, by the id of the call, because a person who provides the result must see them. */
  readonly customInputs = new Map<string, unknown>();
  /** Number of events by second, for the scrubber. */
  readonly density = new Map<number, number>();
  events = 0;
  firstAt: number | null = null;
  /** The number of the newest event in the session's log. */
  seq = 0;
  /** The cost and time of each model request. */
  readonly #costs: { readonly at: number; readonly usd: number }[] = [];
  readonly #writers = new Map<string, { readonly key: string; readonly at: number }>();

  constructor(id: string) {
    this.id = id;
  }

  /** Stores the session as the API returns it. */
  describe(record: Session): void {
    this.record = record;
    const tools = [record.agent, ...toRoster(record.agent.multiagent)].flatMap((agent) => agent.tools);
    this.customTools = new Set(tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : [])));
  }

  /** Folds an event. Returns false if it was folded before. */
  fold(event: FleetEvent): boolean {
    const before = this.slots;
    this.slots = foldSlots(before, event);
    if (this.slots === before) return false;
    this.events += 1;
    this.workspace.take(event);
    if (event.seq !== null && event.seq > this.seq) this.seq = event.seq;
    if (event.ts !== null) {
      this.firstAt ??= event.ts;
      const second = Math.floor(event.ts / 1_000);
      this.density.set(second, (this.density.get(second) ?? 0) + 1);
    }
    if (event.type === 'token_usage' && event.ts !== null && event.cost_usd !== undefined) {
      this.#costs.push({ at: event.ts, usd: event.cost_usd });
      if (this.#costs.length > limits.pulsesMax) this.#costs.shift();
    }
    if ('stream_id' in event && event.stream_id !== undefined) this.#track(event);
    else if (event.type === 'done') this.#closeLanes(event.ts);
    else if (event.type === 'session_error') this.#markSession(event, 'error', event.message);
    else if (event.type === 'files_rewound') this.#markSession(event, 'rewind', describeRewind(event));
    return true;
  }

  /** Dollars between two times. */
  spentSince(from: number, to: number): number {
    let sum = 0;
    for (let index = this.#costs.length - 1; index >= 0; index--) {
      const { at, usd } = this.#costs[index]!;
      if (at <= from) break;
      if (at <= to) sum += usd;
    }
    return sum;
  }

  /** Folds an event into the slots only. */
  foldOnly(event: FleetEvent): void {
    this.slots = foldSlots(this.slots, event);
  }

  #track(event: StreamEvent): void {
    const found = this.#find(event.stream_id, event);
    if (found === undefined) return;
    const track = this.#trackOf(found.key);
    track.take(event, found.slot, this.customTools);
    if (event.type === 'tool_start' && !isBuiltIn(event.tool)) this.#keepInput(event.tool_use_id, event.input);
    if (event.type === 'file' && event.ts !== null) this.#noteWrite(track, event.path, event.ts);
    if (event.type !== 'stream_start' && event.type !== 'stream_end') return;
    // A turn that starts or ends changes the state of its parent.
    const parent = found.slot.parentStreamId === null ? undefined : this.#find(found.slot.parentStreamId);
    if (parent === undefined || event.ts === null) return;
    const above = this.#trackOf(parent.key);
    above.enter(event.ts, parent.slot, this.customTools);
    if (event.type === 'stream_end') return;
    track.spawnedBy = { key: parent.key, at: event.ts };
    track.mark(event.ts, 'spawn', `started by ${parent.slot.title ?? parent.slot.agent}`);
  }

  /** Finds the turn of a stream in the newest run that contains it, because a decision may belong to an earlier run. */
  #find(streamId: number, event?: StreamEvent): { readonly slot: Slot; readonly key: string } | undefined {
    const { runs } = this.slots;
    for (let index = runs.length - 1; index >= 0; index--) {
      const { slots } = runs[index]!;
      const slot =
        slots[streamId]?.streamId === streamId ? slots[streamId] : slots.find((one) => one.streamId === streamId);
      const isIt = slot !== undefined && (event?.thread_id == null || slot.threadId === event.thread_id);
      if (isIt) return { slot, key: threadKey(slot, index) };
    }
    return undefined;
  }

  #trackOf(key: string): ThreadTrack {
    const known = this.tracks.get(key);
    if (known !== undefined) return known;
    const added = new ThreadTrack(key);
    this.tracks.set(key, added);
    return added;
  }

  /** Marks an event of the session outside of its turns on the lane of the coordinator. */
  #markSession({ ts }: FleetEvent, kind: Mark['kind'], label: string): void {
    const index = this.slots.runs.length - 1;
    const slot = this.slots.runs[index]?.slots.find(({ depth }) => depth === 0);
    if (slot !== undefined && ts !== null) this.#trackOf(threadKey(slot, index)).mark(ts, kind, label);
  }

  /** Ends the lanes of turns without an end event, which end with the run. */
  #closeLanes(ts: number | null): void {
    const last = this.slots.runs.at(-1);
    if (ts === null || last === undefined) return;
    for (const slot of last.slots) {
      const track = this.tracks.get(threadKey(slot, this.slots.runs.length - 1));
      if (track?.segments.at(-1)?.to === null) track.enter(ts, slot, this.customTools);
    }
  }

  #keepInput(id: string, input: unknown): void {
    this.customInputs.set(id, input);
    if (this.customInputs.size > limits.customInputsMax)
      this.customInputs.delete(this.customInputs.keys().next().value!);
  }

  #noteWrite(track: ThreadTrack, path: string, at: number): void {
    const before = this.#writers.get(path);
    this.#writers.set(path, { key: track.key, at });
    if (this.#writers.size > limits.writtenPathsMax) this.#writers.delete(this.#writers.keys().next().value!);
    if (before === undefined || before.key === track.key || at - before.at > limits.conflictMs) return;
    this.conflicts.push({ path, at, keys: [before.key, track.key] });
    for (const key of [before.key, track.key]) this.#trackOf(key).mark(at, 'conflict', `two threads wrote ${path}`);
  }
}

function isBuiltIn(tool: string): boolean {
  return (builtInToolNames as readonly string[]).includes(tool);
}
