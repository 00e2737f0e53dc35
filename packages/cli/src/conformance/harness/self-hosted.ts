import type { Context } from './context.ts';
import type { Step } from './script.ts';
import { Talk } from './talk.ts';

/** A session whose tools a worker runs, and the environment that the worker polls. */
export async function selfHosted(
  t: Context,
  turns: readonly (readonly Step[])[],
  policy: 'always_allow' | 'always_ask' = 'always_allow',
): Promise<{ environmentId: string; talk: Talk }> {
  const environmentId = await selfHostedEnvironment(t);
  const default_config = { permission_policy: { type: policy } };
  const tools = [{ type: 'agent_toolset_20260401', default_config }] as never;
  const agent = await t.agent({ turns, tools });
  const session = await t.client.beta.sessions.create({ agent: agent.id, environment_id: environmentId });
  t.sessionIds.push(session.id);
  return { environmentId, talk: new Talk(t, session) };
}

/** Creates a self-hosted environment, which is deleted after the check. */
export async function selfHostedEnvironment(t: Context): Promise<string> {
  const { id } = await t.client.beta.environments.create({ name: 'conformance', config: { type: 'self_hosted' } });
  t.environmentIds.push(id);
  return id;
}
