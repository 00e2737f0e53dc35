import type Anthropic from '@anthropic-ai/sdk';
import { toScript } from '../server.suite.ts';

/** An agent that calls the tool `echo` of an MCP server in each turn, and says what it got. */
export async function createMcpAgent(client: Anthropic, url: string, turns = 1, name = 'caller'): Promise<string> {
  const call = [{ call: 'mcp__tools__echo', input: {} }];
  const script = toScript(
    Array.from({ length: turns }, (_, turn) => [call, [{ say: `turn ${turn + 1} is done` }]]).flat(),
  );
  const agent = await client.beta.agents.create({
    name,
    model: 'scripted/inline',
    system: script,
    mcp_servers: [{ type: 'url', name: 'tools', url }],
    tools: [
      {
        type: 'mcp_toolset',
        mcp_server_name: 'tools',
        default_config: { permission_policy: { type: 'always_allow' } },
      },
    ],
  });
  return agent.id;
}

/** Sends a message and waits until the session is idle again. Resolves with the events of that turn. */
export async function sendAndWait(client: Anthropic, sessionId: string, text = 'go') {
  const { events } = client.beta.sessions;
  const seen: Anthropic.Beta.Sessions.BetaManagedAgentsSessionEvent[] = [];
  const before = new Set<string>();
  for await (const event of events.list(sessionId)) before.add(event.id);
  await events.send(sessionId, { events: [{ type: 'user.message', content: [{ type: 'text', text }] }] });
  for (;;) {
    seen.length = 0;
    for await (const event of events.list(sessionId)) if (!before.has(event.id)) seen.push(event);
    if (seen.some(({ type }) => type === 'session.status_idle')) return seen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A vault with a credential for each URL. */
export async function createVault(
  client: Anthropic,
  ...auths: Anthropic.Beta.Vaults.CredentialCreateParams['auth'][]
): Promise<{ readonly id: string; readonly credentials: readonly string[] }> {
  const { id } = await client.beta.vaults.create({ display_name: 'v' });
  const credentials: string[] = [];
  for (const auth of auths) credentials.push((await client.beta.vaults.credentials.create(id, { auth })).id);
  return { id, credentials };
}

/** A session of the agent in an environment without limits. */
export async function createSession(client: Anthropic, agent: string, ...vault_ids: string[]): Promise<string> {
  const environment = await client.beta.environments.create({ name: 'e' });
  return (await client.beta.sessions.create({ agent, environment_id: environment.id, vault_ids })).id;
}
