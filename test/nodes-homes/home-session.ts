import type { Caller } from '../nodes/work.ts';
import type { HomeNode } from './open-nodes.ts';

/** What the log says happened. */
export interface Logged {
  readonly type: string;
  readonly payload: {
    readonly content?: readonly { readonly text?: string }[];
    readonly error?: { readonly reason?: string; readonly message: string };
  };
}

/** A session whose agent may use everything without asking. */
export async function createSession({ caller }: HomeNode, model: string, system?: string): Promise<string> {
  const tools = [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_allow' } } }];
  const agent = await caller.call<{ id: string }>('POST', '/v1/agents', {
    name: 'worker',
    model,
    tools,
    ...(system === undefined ? {} : { system }),
  });
  const environment = await caller.call<{ id: string }>('POST', '/v1/environments', { name: `e ${agent.id}` });
  const session = { agent: agent.id, environment_id: environment.id };
  return (await caller.call<{ id: string }>('POST', '/v1/sessions', session)).id;
}

/** Everything that happened in it, as a node tells it. */
export async function readLog(caller: Caller, sessionId: string): Promise<readonly Logged[]> {
  return (await caller.lines(`/v1/sessions/${sessionId}/export`)) as Logged[];
}

export function textsOf(log: readonly Logged[]): string[] {
  return log
    .filter(({ type }) => type === 'agent.message')
    .map(({ payload: { content = [] } }) => content.map(({ text = '' }) => text).join(''));
}

export function reasonsOf(log: readonly Logged[]): (string | undefined)[] {
  return log.filter(({ type }) => type === 'session.error').map(({ payload }) => payload.error?.reason);
}
