import { describeRewind, describeSettings, type FleetEvent } from '@fleetloom/protocol/fleet';
import { limits } from '../../base/limits.ts';

/** One entry of a transcript. */
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

/** The newest entries of one thread, bounded in memory. */
export class Transcript {
  #entries: Entry[] = [];
  /** Characters of text and thinking that are kept, and that were dropped. */
  #kept = 0;
  dropped = 0;
  /** The lengths of text and thinking of the current turn, for offsets. */
  readonly #lengths = { text: 0, thinking: 0 };

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  take(event: FleetEvent): void {
    switch (event.type) {
      case 'stream_start':
        this.#lengths.text = 0;
        this.#lengths.thinking = 0;
        return this.#add({ type: 'task', text: event.task });
      case 'text':
      case 'thinking':
        this.#lengths[event.type] += event.delta.length;
        return this.#grow(event.type, event.delta);
      case 'text_retract':
        return this.#retract('text', event.from);
      case 'thinking_retract':
        return this.#retract('thinking', event.from);
      case 'sub_agent_response':
        // If its deltas were pruned, this is the whole text.
        if (this.#lengths.text === 0) this.#grow('text', event.content);
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
        return this.#add({ type: 'note', text: 'the earlier conversation was summarised', isFailure: false });
      case 'error':
      case 'session_error':
        return this.#add({ type: 'note', text: event.message, isFailure: true });
      case 'files_rewound':
        return this.#add({ type: 'note', text: describeRewind(event), isFailure: false });
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

  /** Drops the oldest entries; of a single long one, keeps the end. */
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

  #retract(kind: 'text' | 'thinking', from: number): void {
    let surplus = Math.max(0, this.#lengths[kind] - from);
    this.#lengths[kind] = Math.min(this.#lengths[kind], from);
    while (surplus > 0) {
      const index = this.#entries.findLastIndex(({ type }) => type === kind || type === 'task');
      const entry = this.#entries[index];
      // The text of an earlier turn stays.
      if (entry?.type !== kind) return;
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
    // A call that needed an approval starts when it is allowed.
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
