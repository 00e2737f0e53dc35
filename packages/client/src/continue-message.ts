import { cutText } from '@fleetloom/protocol/fleet';
import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { INTERRUPTED, NOT_CARRIED_OUT } from '@fleetloom/protocol/text';

/**
 * Whether a session can be continued: it is idle, and since the last message of a user its turn or that of a sub-agent failed, an
 * approval was withdrawn because the server restarted, or background work was lost. `events`: the events of the session, in order.
 */
export function isCutOff(events: readonly SessionEvent[]): boolean {
  const newest = sinceMessage(events);
  const status = newest.findLast(({ type }) => type.startsWith('session.status_'));
  // After a restart there may be no status event after the message: an idle session stays idle.
  if (status !== undefined && status.type !== 'session.status_idle') return false;
  if (status?.type === 'session.status_idle' && status.stop_reason.type === 'requires_action') return false;
  return newest.some(isLoss);
}

function isLoss(event: SessionEvent): boolean {
  switch (event.type) {
    case 'session.status_idle':
    case 'session.thread_status_idle':
      return event.stop_reason.type === 'retries_exhausted';
    case 'session.error':
      return event.error.retry_status.type === 'exhausted';
    case 'agent.tool_result':
    case 'agent.mcp_tool_result':
      return stateAfter(event.content ?? []) === 'waiting';
    default:
      return false;
  }
}

/**
 * The message that makes an agent continue after its turn was cut off, e.g. by a restart of the server. It names the calls
 * that were not executed, calls that may have been executed in part, and lost background work. `events`: the events of the
 * session, in order.
 */
export function toContinueMessage(events: readonly SessionEvent[]): string {
  const newest = sinceMessage(events);
  const calls = new Map<string, Call>();
  for (const event of newest) follow(calls, event);
  const listed = (state: Call['state']) => [...calls.values()].filter((call) => call.state === state).map(toLine);
  const status = newest.findLast(({ type }) => type === 'session.status_idle');
  const isOfTurn = status?.type !== 'session.status_idle' || status.stop_reason.type === 'retries_exhausted';
  const what = isOfTurn ? 'Your last turn' : 'Work that you started';
  return [
    `${what} was cut off, and your program was started again. Continue where you left off.`,
    ...toList('These calls were not executed:', listed('waiting')),
    ...toList('These calls were interrupted, and may have been executed in part:', listed('interrupted')),
    ...toList('This work was lost:', newest.flatMap(toLostWork)),
  ].join('\n');
}

function sinceMessage(events: readonly SessionEvent[]): readonly SessionEvent[] {
  return events.slice(events.findLastIndex(({ type }) => type === 'user.message') + 1);
}

/** The lost work, which the error names before the reason. */
function toLostWork(event: SessionEvent): string[] {
  if (event.type !== 'session.error') return [];
  const { message } = event.error;
  const end = message.indexOf(WORK_ENDED);
  return end === -1 ? [] : [`- ${cutText(message.slice(0, end), INPUT_CHARS)}`];
}

const WORK_ENDED = ' ended with the program: ';

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
    // Results of child threads are not events of the session, but decisions for their calls are.
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
