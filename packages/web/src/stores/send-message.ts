import { api, ApiError } from './connection/api.ts';
import { fleet } from './stores.ts';

/** The recipient of a message. */
export interface MessageTarget {
  readonly sessionId: string;
  /** The id of the thread; null for the coordinator's thread. */
  readonly threadId: string | null;
  readonly agent: string;
}

/** Sends a message to a coordinator or to one thread. The threads of a program cannot be addressed, so its coordinator forwards the message. */
export async function sendMessage(target: MessageTarget, text: string): Promise<void> {
  const { sessionId, threadId, agent } = target;
  const content = [{ type: 'text' as const, text }];
  if (threadId !== null && isSteerable(target)) {
    const isSent = await api.post(`v1/sessions/${sessionId}/threads/${threadId}/messages`, { content }).then(
      () => true,
      (error: unknown) => {
        // The session runs on a program engine that this page does not know by name.
        if (error instanceof ApiError && error.code === 'thread_not_steerable') return false;
        throw error;
      },
    );
    if (isSent) return;
  }
  const message = threadId === null ? text : `For ${agent} (thread ${threadId}): ${text}`;
  await api.send(sessionId, { type: 'user.message', content: [{ type: 'text', text: message }] });
}

/** Whether the threads of the session accept messages one by one. */
export function isSteerable({ sessionId }: Pick<MessageTarget, 'sessionId'>): boolean {
  const model = fleet.model.sessions.get(sessionId)?.model.record?.agent.model.id ?? '';
  return !/^(?:claude-code|codex|opencode|acp:[^/]+)\//.test(model);
}

/** The name of the draft of a message to this recipient. */
export function toDraftName({ sessionId, threadId }: Pick<MessageTarget, 'sessionId' | 'threadId'>): string {
  return `message ${sessionId}/${threadId ?? ''}`;
}
