import type { FleetEvent } from '@fleetloom/protocol/fleet';
import type { SessionEvent } from '../claude-server.ts';
import type { LogStory } from './log-story.ts';
import { type Draft, type Item, MAIN, type Story, StoryBuilder, toPlainContent, toSortedJson } from './story.ts';

/** What a reader of the fleet stream makes of it: the consumer rule, applied by hand. */
export function toFleetStory(events: readonly FleetEvent[], log: LogStory): Story {
  const story = new StoryBuilder();
  const texts = new Map<string, FleetText[]>();
  const order = new Map<string, (FleetText | Item)[]>();
  const started = new Set<string>();
  let run = 0;
  for (const event of events) {
    if (event.type === 'request_received') run++;
    if (!('thread_id' in event) || event.stream_id === undefined) continue;
    const key = log.keys.get(event.thread_id ?? '') ?? MAIN;
    const items = order.get(key) ?? [];
    order.set(key, items);
    const stream = `${run}/${event.stream_id}`;
    const grown = texts.get(stream) ?? [];
    texts.set(stream, grown);
    if (event.type === 'text') {
      const piece = { kind: 'text' as const, text: event.delta };
      grown.push(piece);
      items.push(piece);
    } else if (event.type === 'text_retract') retract(grown, event.from);
    else if (event.type === 'context_compacted') items.push({ kind: 'compacted', text: '' });
    else if (event.type === 'thinking') items.push({ kind: 'thinking', text: event.delta });
    else if (event.type === 'tool_start' || event.type === 'approval_required') {
      const id = log.calls.get(event.tool_use_id) ?? event.tool_use_id;
      // An approval that was allowed is followed by the start of its call.
      if (started.has(id)) continue;
      started.add(id);
      items.push({ kind: 'call', id, name: '', input: toSortedJson(event.input), result: null });
    }
  }
  for (const [key, items] of order) for (const item of items) story.add(key, { ...item });
  for (const event of events) {
    if (event.type !== 'tool_call') continue;
    const id = log.calls.get(event.tool_use_id) ?? event.tool_use_id;
    const key = log.keys.get(event.thread_id ?? '') ?? MAIN;
    if (!log.refused.has(id)) story.end(key, id, { isError: !event.ok, isInterrupted: false, content: '' });
  }
  return toFleetForm(story.build(), { refused: log.refused, drafts: new Map() });
}

interface FleetText {
  readonly kind: 'text';
  text: string;
}

/** What a turn has said from this character on is void. */
function retract(pieces: readonly FleetText[], from: number): void {
  let at = 0;
  for (const piece of pieces) {
    const { length } = piece.text;
    piece.text = piece.text.slice(0, Math.max(0, from - at));
    at += length;
  }
}

/**
 * A story as far as the fleet stream can carry it: text without the borders of its blocks, and of calls neither names nor
 * the contents of results. Calls that the agent's definition refuses never start there.
 */
export function toFleetForm(story: Story, { refused, drafts }: Pick<LogStory, 'refused' | 'drafts'>): Story {
  const threads = [...story.threads].map(([key, thread]) => {
    const items: Item[] = [];
    for (const item of withDrafts(thread.items, drafts.get(key) ?? [])) {
      const last = items.at(-1);
      if (item.kind === 'told' || item.kind === 'error' || item.kind === 'refusal') continue;
      if (item.kind === 'call') {
        if (refused.has(item.id)) continue;
        const result =
          item.result === null ? null : { isError: item.result.isError, isInterrupted: false, content: '' };
        items.push({ ...item, name: '', result });
      } else if (item.kind === 'compacted') items.push(item);
      else if (item.text === '') continue;
      else if (last?.kind === item.kind) items[items.length - 1] = { kind: item.kind, text: last.text + item.text };
      else items.push(item);
    }
    return [key, { key, parent: null, items }] as const;
  });
  // A thread without a word has no stream that says anything.
  return { threads: new Map(threads.filter(([, { items }]) => items.length > 0)), problems: story.problems };
}

/** What a request that failed has said stays on the stream, where it was. */
function withDrafts(items: readonly Item[], drafts: readonly Draft[]): Item[] {
  const draftsAt = (at: number) => drafts.filter((draft) => draft.at === at).map(({ kind, text }) => ({ kind, text }));
  return [...items.flatMap((item, at) => [...draftsAt(at), item]), ...draftsAt(items.length)];
}

/** What the lists of Managed Agents events say, by the key of the thread that each is about. */
export function toEventsStory(lists: ReadonlyMap<string, readonly SessionEvent[]>, log: LogStory): Story {
  const story = new StoryBuilder();
  for (const [key, events] of lists) {
    story.open(key, null);
    for (const event of events) addEvent(story, key, event, log);
  }
  return story.build();
}

function addEvent(story: StoryBuilder, key: string, event: SessionEvent, { calls, keys, threads }: LogStory): void {
  switch (event.type) {
    case 'user.message':
    case 'agent.thread_message_received':
      if (event.type === 'user.message' ? event.processed_at !== null : isFromParent(event.from_session_thread_id))
        story.add(key, { kind: 'told', text: toPlainContent(event.content) });
      return;
    case 'agent.message':
      return story.add(key, { kind: 'text', text: toPlainContent(event.content) });
    case 'agent.thread_context_compacted':
      return story.add(key, { kind: 'compacted', text: '' });
    case 'agent.thinking':
      return story.add(key, { kind: 'thinking', text: '' });
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
    case 'agent.custom_tool_use': {
      const { id, name, input } = event;
      return story.add(key, { kind: 'call', id: calls.get(id) ?? id, name, input: toSortedJson(input), result: null });
    }
    case 'agent.tool_result':
      return end(event.tool_use_id, event);
    case 'agent.mcp_tool_result':
      return end(event.mcp_tool_use_id, event);
    case 'user.custom_tool_result':
      return end(event.custom_tool_use_id, event);
    default:
      return;
  }

  function isFromParent(threadId: string): boolean {
    return keys.get(threadId) === threads.get(key)?.parent;
  }

  function end(id: string, { content, is_error: isError }: { content?: unknown; is_error?: boolean | null }): void {
    const result = { isError: isError === true, isInterrupted: false, content: toPlainContent(content) };
    story.end(key, calls.get(id) ?? id, result);
  }
}

/** A story as far as Managed Agents events can carry it: they mark that an agent thought, and not what. */
export function toEventsForm(story: Story): Story {
  const threads = [...story.threads].map(([key, { items }]) => {
    const shown = items.flatMap((item): Item[] => {
      if (item.kind === 'error' || item.kind === 'refusal') return [];
      if (item.kind === 'thinking') return [{ kind: 'thinking', text: '' }];
      if (item.kind !== 'call') return [item];
      const name = item.name.replace(/^mcp__.*?__/, '');
      return [{ ...item, name, result: item.result === null ? null : { ...item.result, isInterrupted: false } }];
    });
    return [key, { key, parent: null, items: shown }] as const;
  });
  return { threads: new Map(threads), problems: story.problems };
}
