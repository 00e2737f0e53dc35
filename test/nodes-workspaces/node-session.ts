import type { Caller } from '../nodes/work.ts';
import type { TestNode } from './open-nodes.ts';

/** An exported frame. */
export interface Logged {
  readonly type: string;
  readonly payload: {
    readonly content?: readonly { readonly text?: string }[];
    readonly error?: { readonly reason?: string; readonly message: string };
  };
}

/** Creates a session whose agent needs no approvals. */
export async function createSession({ caller }: TestNode, model: string, system?: string): Promise<string> {
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

/** All frames of a session, exported through a node. */
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
