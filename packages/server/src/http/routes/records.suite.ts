import Anthropic from '@anthropic-ai/sdk';
import { createAgents } from '../../agents/agents.ts';
import { createIds } from '../../base/ids.ts';
import { createEnvironments } from '../../environments/environments.ts';
import { knownSecrets, type TestDoor, withDoor } from '../door.suite.ts';
import { createAgentRoutes } from './agents.ts';
import { createEnvironmentRoutes } from './environments.ts';

export interface RecordsDoor extends TestDoor {
  /** The official client, unmodified, with a key of one workspace. */
  readonly client: Anthropic;
  /** The same with a key of another workspace. */
  readonly stranger: Anthropic;
  /** What an API key of the first workspace sends, raw. */
  readonly call: (method: string, path: string, body?: object) => ReturnType<TestDoor['send']>;
}

/** A server with agents and environments, as clients see it. */
export async function withRecords(run: (test: RecordsDoor) => Promise<void>): Promise<void> {
  const access = knownSecrets({
    ours: { kind: 'api', id: 'key_1', workspaceId: 'wrkspc_1' },
    theirs: { kind: 'api', id: 'key_2', workspaceId: 'wrkspc_2' },
  });
  await withDoor(
    (store, clock) => {
      // Of the clock, so that what is created later also sorts later.
      const ids = createIds({ now: clock.now, random: () => 0.25 });
      const routes = [
        ...createAgentRoutes(createAgents({ store, clock, ids })),
        ...createEnvironmentRoutes(createEnvironments({ store, clock, ids })),
      ];
      return { access, routes };
    },
    async (test) => {
      const clientOf = (apiKey: string) => new Anthropic({ baseURL: test.door.url, apiKey, maxRetries: 0 });
      const call: RecordsDoor['call'] = (method, path, body) =>
        test.send({ method, path, headers: { 'x-api-key': 'ours' }, ...(body === undefined ? {} : { body }) });
      await run({ ...test, client: clientOf('ours'), stranger: clientOf('theirs'), call });
    },
  );
}

/** `409 conflict_error`, or `ok`. */
export async function outcomeOf(request: PromiseLike<unknown>): Promise<string> {
  try {
    await request;
    return 'ok';
  } catch (error) {
    const { status, type } = error as { status: number; type: string };
    return `${status} ${type}`;
  }
}
