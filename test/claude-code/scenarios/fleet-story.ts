import type { FleetEvent } from '@fleetloom/protocol/fleet';
import type { LogStory } from './log-story.ts';
import { type Item, MAIN, type Story, StoryBuilder, toSortedJson } from './story.ts';

/** The story of a reader of the fleet stream: the consumer rule, implemented without the code under test. */
export function toFleetStory(events: readonly FleetEvent[], log: LogStory): Story {
  const reader = new FleetReader(log);
  for (const event of events) reader.take(event);
  return reader.build();
}

/**
 * A story as far as the fleet stream can carry it: text without the borders of its blocks, and of results not the contents. Messages
 * to agents are there only as the beginning of a task. A call that never started is there only as a `tool_call` that failed.
 */
export function toFleetForm(story: Story, { refused }: Pick<LogStory, 'refused'>): Story {
  const threads = [...story.threads].map(([key, thread]) => {
    const items: Item[] = [];
    for (const item of thread.items.flatMap((each) => toFleetItem(each, refused))) {
      const last = items.at(-1);
      if ((item.kind === 'text' || item.kind === 'thinking') && last?.kind === item.kind)
        items[items.length - 1] = { kind: item.kind, text: last.text + item.text };
      else items.push(item);
    }
    return [key, { key, parent: null, items }] as const;
  });
  // A thread without events has no stream.
  return { threads: new Map(threads.filter(([, { items }]) => items.length > 0)), problems: story.problems };
}

function toFleetItem(item: Item, refused: ReadonlySet<string>): Item[] {
  switch (item.kind) {
    case 'input':
    case 'refusal':
      return [];
    case 'lost':
      return [{ kind: 'error', text: item.text }];
    case 'text':
    case 'thinking':
      return item.text === '' ? [] : [item];
    case 'call': {
      if (refused.has(item.id)) return [];
      const { isError = false, isInterrupted = false } = item.result ?? {};
      const name = item.name.replace(/^mcp__(.*?)__/, '$1: ');
      return [{ ...item, name, result: item.result && { isError, isInterrupted, content: '' } }];
    }
    default:
      return [item];
  }
}

interface Piece {
  readonly kind: 'text' | 'thinking';
  text: string;
}

class FleetReader {
  readonly #log: LogStory;
  readonly #problems: string[] = [];
  readonly #items = new Map<string, (Piece | Item)[]>();
  /** The text and thinking, by run and stream. */
  readonly #pieces = new Map<string, Piece[]>();
  readonly #threads = new Map<string, string>();
  readonly #started = new Set<string>();
  readonly #ended: (Extract<FleetEvent, { type: 'tool_call' }> & { readonly key: string })[] = [];
  #run = 0;

  constructor(log: LogStory) {
    this.#log = log;
  }

  take(event: FleetEvent): void {
    if (event.type === 'request_received') this.#run++;
    if (event.type === 'session_error') this.#add(MAIN, { kind: 'error', text: event.message });
    if (!('thread_id' in event) || event.stream_id === undefined) return;
    const key = this.#log.keys.get(event.thread_id ?? '') ?? MAIN;
    const stream = `${this.#run}/${event.stream_id}`;
    const pieces = this.#pieces.get(stream) ?? [];
    this.#pieces.set(stream, pieces);
    this.#threads.set(stream, key);
    switch (event.type) {
      case 'stream_start':
        return this.#checkParent(key, event.parent_stream_id);
      case 'text':
      case 'thinking': {
        const piece: Piece = { kind: event.type, text: event.delta };
        pieces.push(piece);
        return this.#add(key, piece);
      }
      case 'text_retract':
        return retract(pieces, 'text', event.from);
      case 'thinking_retract':
        return retract(pieces, 'thinking', event.from);
      case 'context_compacted':
        return this.#add(key, { kind: 'compacted', text: '' });
      case 'request_retrying':
        return this.#add(key, { kind: 'retry', text: event.message });
      case 'error':
        // Otherwise it is why the turn ends, which its end repeats.
        if (event.code.endsWith('_error')) this.#add(key, { kind: 'error', text: event.message });
        return;
      case 'stream_end':
        if (!event.ok) this.#add(key, { kind: 'ended', text: `${event.stop_reason} ${event.error ?? ''}` });
        return;
      case 'sub_agent_response':
        return this.#checkBody(key, pieces, event.content);
      case 'tool_start':
      case 'approval_required':
        return this.#start(key, event);
      case 'tool_call':
        return void this.#ended.push({ ...event, key });
      default:
        return;
    }
  }

  build(): Story {
    const story = new StoryBuilder();
    for (const [key, items] of this.#items) for (const item of items) story.add(key, { ...item });
    const failed = new Map<string, number>();
    for (const { key, tool_use_id: toolUseId, ok, error } of this.#ended) {
      const id = this.#idOf(toolUseId);
      if (!this.#log.refused.has(id)) {
        story.end(key, id, { isError: !ok, isInterrupted: error === 'interrupted', content: '' });
      } else if (!ok) failed.set(id, (failed.get(id) ?? 0) + 1);
    }
    for (const id of this.#log.refused) {
      if (failed.get(id) !== 1) story.problem(`the call ${id} never started, and ended ${failed.get(id) ?? 0} times`);
    }
    for (const problem of this.#problems) story.problem(problem);
    return toFleetForm(story.build(), this.#log);
  }

  #add(key: string, item: Piece | Item): void {
    const items = this.#items.get(key) ?? [];
    this.#items.set(key, items);
    items.push(item);
  }

  /** An approval that was allowed is followed by the start of its call. */
  #start(key: string, event: Extract<FleetEvent, { type: 'tool_start' | 'approval_required' }>): void {
    const id = this.#idOf(event.tool_use_id);
    if (this.#started.has(id)) return;
    this.#started.add(id);
    this.#add(key, { kind: 'call', id, name: event.tool, input: toSortedJson(event.input), result: null });
  }

  #idOf(toolUseId: string): string {
    return this.#log.calls.get(toolUseId) ?? toolUseId;
  }

  #checkParent(key: string, streamId: number | null): void {
    const parent = streamId === null ? undefined : this.#threads.get(`${this.#run}/${streamId}`);
    const expected = this.#log.threads.get(key)?.parent;
    if (parent !== undefined && key !== MAIN && parent !== expected)
      this.#problems.push(`thread ${key}: a turn is below ${parent}, not ${expected}`);
  }

  #checkBody(key: string, pieces: readonly Piece[], content: string): void {
    const said = pieces.flatMap(({ kind, text }) => (kind === 'text' ? [text] : [])).join('');
    if (said !== content) this.#problems.push(`thread ${key}: said ${JSON.stringify(said)}, response ${content}`);
  }
}

/** Removes the text or thinking of a turn from this character on. */
function retract(pieces: readonly Piece[], kind: Piece['kind'], from: number): void {
  let at = 0;
  for (const piece of pieces) {
    if (piece.kind !== kind) continue;
    const { length } = piece.text;
    piece.text = piece.text.slice(0, Math.max(0, from - at));
    at += length;
  }
}
