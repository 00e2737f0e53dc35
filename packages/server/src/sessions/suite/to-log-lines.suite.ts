import type { SessionFrame } from '../../frames/frames.ts';

/**
 * A log in short form, one line a frame: the thread, the type, and the part of the payload that matters. Threads are called by
 * their agents; of several with the same name the second is `name#2`.
 */
export function toLogLines(frames: readonly SessionFrame[]): string[] {
  const names = toNames(frames);
  return frames
    .filter(({ type }) => !type.startsWith('delta.'))
    .map((frame) => {
      const who = frame.threadId === null ? 'session' : names.get(frame.threadId)!;
      return [who, frame.type.replace(/^(session|agent|span)\./, ''), toDetail(frame)].filter(Boolean).join(' ');
    });
}

function toNames(frames: readonly SessionFrame[]): Map<string, string> {
  const names = new Map<string, string>();
  const name = (id: string, agent: string) => {
    const same = [...names.values()].filter((other) => other === agent || other.startsWith(`${agent}#`)).length;
    names.set(id, same === 0 ? agent : `${agent}#${same + 1}`);
  };
  for (const { type, payload } of frames) {
    if (type === 'session.created') name(payload.primary_thread_id, payload.agent.name);
    if (type === 'session.thread_created') name(payload.session_thread_id, payload.agent_name);
  }
  return names;
}

function toDetail({ type, payload }: SessionFrame): string {
  switch (type) {
    case 'session.status_idle':
    case 'session.thread_status_idle': {
      const { stop_reason: reason } = payload;
      return reason.type === 'requires_action' ? `requires_action(${reason.event_ids.length})` : reason.type;
    }
    case 'user.message':
    case 'system.message':
      return payload.is_processed ? '' : 'queued';
    case 'agent.tool_result':
    case 'agent.mcp_tool_result':
      return payload.is_interrupted ? 'interrupted' : payload.is_error ? 'error' : '';
    case 'turn.ended':
    case 'run.ended':
      return payload.stop_reason;
    case 'session.error':
      return payload.retry;
    case 'span.model_request_start':
      return payload.purpose === 'turn' ? '' : payload.purpose;
    case 'span.model_request_end':
      return payload.is_error ? 'error' : '';
    case 'user.tool_confirmation':
      return payload.result;
    default:
      return '';
  }
}
