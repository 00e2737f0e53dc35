import type Anthropic from '@anthropic-ai/sdk';
import { expect } from 'vitest';
import { toScript } from '../server.suite.ts';

/** What a client asks for; `git_repository` is not part of the SDK's types. */
export type Resource = NonNullable<Anthropic.Beta.SessionCreateParams['resources']>[number];

/** A session whose agent runs one bash command for each message that it gets. */
export interface BashSession {
  readonly id: string;
  readonly session: Anthropic.Beta.BetaManagedAgentsSession;
  /** Runs the next command and returns its output. */
  readonly next: () => Promise<string>;
  /** Errors that the session has reported, the oldest first. */
  readonly errors: () => Promise<readonly RepositoryErrorShown[]>;
}

/** The parts of a `session.error` that say what is wrong with a repository. */
export interface RepositoryErrorShown {
  readonly type: string;
  readonly message: string;
  readonly retry_status: { readonly type: string };
  readonly repository_url?: string | null;
}

/** Creates a session with resources whose agent runs these commands. */
export async function openBashSession(
  client: Anthropic,
  resources: readonly Resource[],
  commands: readonly string[],
  networking?: Anthropic.Beta.Environments.BetaLimitedNetworkParams,
): Promise<BashSession> {
  const turns = commands.flatMap((command) => [[{ call: 'bash', input: { command } }], [{ say: 'done' }]]);
  const tools = [{ type: 'agent_toolset_20260401' as const }];
  const agent = await client.beta.agents.create({
    name: 'a',
    model: 'scripted/inline',
    system: toScript(turns),
    tools,
  });
  const config = networking === undefined ? undefined : { type: 'cloud' as const, networking };
  const environment = await client.beta.environments.create({
    name: 'here',
    ...(config === undefined ? {} : { config }),
  });
  const session = await client.beta.sessions.create({
    agent: agent.id,
    environment_id: environment.id,
    resources: [...resources],
  });
  return { ...follow(client, session.id), id: session.id, session };
}

/** The same for a session that exists. */
export function follow(client: Anthropic, id: string): Pick<BashSession, 'next' | 'errors'> {
  const { events } = client.beta.sessions;
  const results = async () => {
    const found: string[] = [];
    for await (const event of events.list(id)) {
      if (event.type !== 'agent.tool_result') continue;
      found.push(event.content?.map((block) => ('text' in block ? block.text : '')).join('') ?? '');
    }
    return found;
  };
  return {
    next: async () => {
      const before = (await results()).length;
      await events.send(id, { events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }] });
      await expect.poll(async () => (await results()).length, { timeout: 60_000 }).toBeGreaterThan(before);
      await expect.poll(async () => (await client.beta.sessions.retrieve(id)).status, { timeout: 60_000 }).toBe('idle');
      return (await results()).at(-1)!;
    },
    errors: async () => {
      const found: RepositoryErrorShown[] = [];
      for await (const event of events.list(id)) if (event.type === 'session.error') found.push(event.error);
      return found;
    },
  };
}
