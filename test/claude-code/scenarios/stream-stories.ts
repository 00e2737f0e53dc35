import type { SessionEvent } from '../claude-server.ts';
import type { LogStory } from './log-story.ts';
import { type Item, type Story, StoryBuilder, toPlainContent, toSortedJson } from './story.ts';

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
        story.add(key, { kind: 'input', text: toPlainContent(event.content) });
      return;
    case 'agent.message':
      return story.add(key, { kind: 'text', text: toPlainContent(event.content) });
    case 'session.error':
      return fail(event.error);
    case 'session.thread_status_idle':
      if (event.stop_details !== null && keys.get(event.session_thread_id) === key)
        story.add(key, { kind: 'refusal', text: event.stop_details.explanation ?? '' });
      return;
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

  function fail({
    type,
    message: text,
    retry_status: retry,
  }: Extract<SessionEvent, { type: 'session.error' }>['error']) {
    if (!type.startsWith('mcp_')) story.add(key, { kind: retry.type === 'retrying' ? 'retry' : 'error', text });
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
      if (item.kind === 'ended') return [];
      if (item.kind === 'lost') return [{ kind: 'error', text: item.text }];
      if (item.kind === 'thinking') return [{ kind: 'thinking', text: '' }];
      if (item.kind !== 'call') return [item];
      const name = item.name.replace(/^mcp__.*?__/, '');
      return [{ ...item, name, result: item.result === null ? null : { ...item.result, isInterrupted: false } }];
    });
    return [key, { key, parent: null, items: shown }] as const;
  });
  return { threads: new Map(threads), problems: story.problems };
}
