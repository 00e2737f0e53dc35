import { describeSettings, type FleetEvent } from '@fleetloom/protocol/fleet';
import { limits } from '../limits.ts';

/** What a thread was given, thought, said and did, in its order. */
export type Entry =
  | { readonly type: 'task'; readonly text: string }
  | { readonly type: 'thinking' | 'text'; text: string }
  | {
      readonly type: 'call';
      readonly toolUseId: string;
      readonly tool: string;
      readonly input: unknown;
      readonly startedAt: number | null;
      state: 'asked' | 'running' | 'ok' | 'failed' | 'denied';
      durationMs: number | null;
      error: string | null;
    }
  | { readonly type: 'note'; readonly text: string; readonly isFailure: boolean };

/** The end of what happened in one thread: so much that it can be read, and no more than fits in memory. */
export class Transcript {
  #entries: Entry[] = [];
  /** Characters of text and thoughts that are kept, and those that are not any more. */
  #kept = 0;
  dropped = 0;
  /** Of the turn under way: all it has said, which is how places in its text are counted. */
  #said = 0;

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  take(event: FleetEvent): void {
    switch (event.type) {
      case 'stream_start':
        this.#said = 0;
        return this.#add({ type: 'task', text: event.task });
      case 'text':
        this.#said += event.delta.length;
        return this.#grow('text', event.delta);
      case 'thinking':
        return this.#grow('thinking', event.delta);
      case 'text_retract':
        return this.#retract(event.from);
      case 'sub_agent_response':
        // Where its pieces are gone, this is all there is.
        if (this.#said === 0) this.#grow('text', event.content);
        return;
      case 'tool_start':
      case 'approval_required':
        return this.#start(event);
      case 'approval_resolved':
        return this.#update(event.tool_use_id, { state: event.result === 'allow' ? 'running' : 'denied' });
      case 'tool_call': {
        const { ok, duration_ms: durationMs, error = null } = event;
        return this.#update(event.tool_use_id, { state: ok ? 'ok' : 'failed', durationMs, error });
      }
      case 'request_retrying':
        return this.#add({
          type: 'note',
          text: `attempt ${event.attempt} follows: ${event.message}`,
          isFailure: false,
        });
      case 'settings_loaded':
        return this.#add({ type: 'note', text: describeSettings(event), isFailure: false });
      case 'context_compacted':
        return this.#add({ type: 'note', text: 'what was said before was summed up', isFailure: false });
      case 'error':
        return this.#add({ type: 'note', text: event.message, isFailure: true });
      case 'stream_end':
        if (event.stop_reason !== 'end_turn' && event.stop_reason !== 'error')
          this.#add({ type: 'note', text: event.stop_reason, isFailure: !event.ok });
        return;
      default:
    }
  }

  #add(entry: Entry): void {
    this.#entries.push(entry);
    if (this.#entries.length <= limits.transcriptEntriesMax) return;
    const [first] = this.#entries.splice(0, 1);
    if (first?.type === 'text' || first?.type === 'thinking') this.#forget(first.text.length);
  }

  #grow(type: 'text' | 'thinking', delta: string): void {
    if (delta === '') return;
    const last = this.#entries.at(-1);
    if (last?.type === type) last.text += delta;
    else this.#add({ type, text: delta });
    this.#kept += delta.length;
    this.#trim();
  }

  /** The oldest goes first, and only the end of the last one stays. */
  #trim(): void {
    while (this.#kept > limits.watchTextCharsMax) {
      const surplus = this.#kept - limits.watchTextCharsMax;
      const index = this.#entries.findIndex(({ type }) => type === 'text' || type === 'thinking');
      const entry = this.#entries[index];
      if (entry === undefined || !('text' in entry) || entry.type === 'note' || entry.type === 'task') return;
      const cut = Math.min(surplus, entry.text.length);
      if (cut === entry.text.length) this.#entries.splice(index, 1);
      else entry.text = entry.text.slice(cut);
      this.#forget(cut);
    }
  }

  #forget(characters: number): void {
    this.#kept -= characters;
    this.dropped += characters;
  }

  #retract(from: number): void {
    let surplus = Math.max(0, this.#said - from);
    this.#said = Math.min(this.#said, from);
    while (surplus > 0) {
      const index = this.#entries.findLastIndex(({ type }) => type === 'text' || type === 'task');
      const entry = this.#entries[index];
      // What a turn before has said stays.
      if (entry?.type !== 'text') return;
      const cut = Math.min(surplus, entry.text.length);
      if (cut === entry.text.length) this.#entries.splice(index, 1);
      else entry.text = entry.text.slice(0, -cut);
      this.#kept -= cut;
      surplus -= cut;
    }
  }

  #start(event: Extract<FleetEvent, { type: 'tool_start' | 'approval_required' }>): void {
    const { tool_use_id: toolUseId, tool, input, ts: startedAt } = event;
    const state = event.type === 'tool_start' ? 'running' : 'asked';
    // One that was asked for begins when it is allowed.
    if (this.#find(toolUseId) !== undefined) return this.#update(toolUseId, { state });
    this.#add({ type: 'call', toolUseId, tool, input, startedAt, state, durationMs: null, error: null });
  }

  #update(toolUseId: string, change: Partial<Pick<Call, 'state' | 'durationMs' | 'error'>>): void {
    const call = this.#find(toolUseId);
    if (call !== undefined && !(call.state === 'denied' && change.state === 'failed')) Object.assign(call, change);
  }

  #find(toolUseId: string): Call | undefined {
    return this.#entries.findLast((entry): entry is Call => entry.type === 'call' && entry.toolUseId === toolUseId);
  }
}

type Call = Extract<Entry, { type: 'call' }>;
