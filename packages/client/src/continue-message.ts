import { cutText } from '@fleetloom/protocol/fleet';
import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { INTERRUPTED, NOT_CARRIED_OUT } from '@fleetloom/protocol/text';

/**
 * What to say to an agent so that it goes on after its turn was cut off, e.g. by a restart of the server. It names the calls
 * that were not carried out, and those that may have been carried out in part. `events` are those of the session, in order.
 */
export function toContinueMessage(events: readonly SessionEvent[]): string {
  const last = events.findLastIndex(({ type }) => type === 'user.message');
  const calls = new Map<string, Call>();
  for (const event of events.slice(last + 1)) follow(calls, event);
  const listed = (state: Call['state']) => [...calls.values()].filter((call) => call.state === state).map(toLine);
  return [
    'Your last turn was cut off, and your program was started again. Continue where you left off.',
    ...toList('These calls were not carried out:', listed('waiting')),
    ...toList('These calls were interrupted, and may have been carried out in part:', listed('interrupted')),
  ].join('\n');
}

interface Call {
  readonly name: string;
  readonly input: unknown;
  readonly isOfChild: boolean;
  state: 'waiting' | 'interrupted' | 'done';
}

function follow(calls: Map<string, Call>, event: SessionEvent): void {
  const finish = (id: string, state: Call['state']) => {
    const call = calls.get(id);
    if (call !== undefined) call.state = state;
  };
  switch (event.type) {
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
    case 'agent.custom_tool_use': {
      const { id, name, input } = event;
      const isAsked = event.type === 'agent.custom_tool_use' || event.evaluated_permission === 'ask';
      calls.set(id, {
        name,
        input,
        isOfChild: event.session_thread_id !== undefined,
        state: isAsked ? 'waiting' : 'done',
      });
      return;
    }
    // Results of children are not among the events of the session, their answers are.
    case 'user.tool_confirmation':
      return finish(event.tool_use_id, 'done');
    case 'user.custom_tool_result':
      return finish(event.custom_tool_use_id, 'done');
    case 'agent.tool_result':
      return finish(event.tool_use_id, stateAfter(event.content ?? []));
    case 'agent.mcp_tool_result':
      return finish(event.mcp_tool_use_id, stateAfter(event.content ?? []));
    default:
  }
}

function stateAfter(content: readonly { readonly type: string }[]): Call['state'] {
  const text = content.map((block) => ('text' in block ? String(block.text) : '')).join('');
  if (text.startsWith(NOT_CARRIED_OUT)) return 'waiting';
  return text === INTERRUPTED ? 'interrupted' : 'done';
}

function toLine({ name, input, isOfChild }: Call): string {
  return `- ${name} ${cutText(JSON.stringify(input), INPUT_CHARS)}${isOfChild ? ' (of a sub-agent)' : ''}`;
}

function toList(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines];
}

const INPUT_CHARS = 500;
