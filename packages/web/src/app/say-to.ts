import { api } from '../connection/api.ts';
import { fleet } from './stores.ts';

export interface Whom {
  readonly sessionId: string;
  /** Null: the coordinator. */
  readonly threadId: string | null;
  readonly agent: string;
}

/** Says something to a coordinator, or to one thread alone. Only a program keeps its agents to itself: there it is passed on. */
export async function sayTo(whom: Whom, text: string): Promise<void> {
  const { sessionId, threadId, agent } = whom;
  const content = [{ type: 'text' as const, text }];
  if (threadId !== null && isSteerable(whom)) {
    await api.post(`v1/sessions/${sessionId}/threads/${threadId}/messages`, { content });
    return;
  }
  const said = threadId === null ? text : `For ${agent} (thread ${threadId}): ${text}`;
  await api.send(sessionId, { type: 'user.message', content: [{ type: 'text', text: said }] });
}

/** Whether its threads can be spoken to one by one. */
export function isSteerable({ sessionId }: Pick<Whom, 'sessionId'>): boolean {
  const model = fleet.model.sessions.get(sessionId)?.model.record?.agent.model.id ?? '';
  return !model.startsWith('claude-code/');
}
