import Anthropic from '@anthropic-ai/sdk';
import { createAgents } from '../../agents/agents.ts';
import { createIds } from '../../base/ids.ts';
import { createEnvironments } from '../../environments/environments.ts';
import { knownSecrets, type TestHttpServer, withHttpServer } from '../server/http-server.suite.ts';
import { createAgentRoutes } from './agents.ts';
import { createEnvironmentRoutes } from './environments.ts';

export interface RecordsServer extends TestHttpServer {
  /** The official client, unmodified, with a key of one workspace. */
  readonly client: Anthropic;
  /** The official client with a key of another workspace. */
  readonly stranger: Anthropic;
  /** Sends a raw request with an API key of the first workspace. */
  readonly call: (method: string, path: string, body?: object) => ReturnType<TestHttpServer['send']>;
}

/** A server with agents and environments, as clients see it. */
export async function withRecords(run: (test: RecordsServer) => Promise<void>): Promise<void> {
  const access = knownSecrets({
    ours: { kind: 'api', id: 'key_1', workspaceId: 'wrkspc_1' },
    theirs: { kind: 'api', id: 'key_2', workspaceId: 'wrkspc_2' },
  });
  await withHttpServer(
    (store, clock) => {
      // Ids follow the clock, so that later records sort later.
      const ids = createIds({ now: clock.now, random: () => 0.25 });
      const routes = [
        ...createAgentRoutes(createAgents({ store, clock, ids })),
        ...createEnvironmentRoutes(createEnvironments({ store, clock, ids })),
      ];
      return { access, routes };
    },
    async (test) => {
      const clientOf = (apiKey: string) => new Anthropic({ baseURL: test.server.url, apiKey, maxRetries: 0 });
      const call: RecordsServer['call'] = (method, path, body) =>
        test.send({ method, path, headers: { 'x-api-key': 'ours' }, ...(body === undefined ? {} : { body }) });
      await run({ ...test, client: clientOf('ours'), stranger: clientOf('theirs'), call });
    },
  );
}

/** The outcome of a request, such as `409 conflict_error` or `ok`. */
export async function outcomeOf(request: PromiseLike<unknown>): Promise<string> {
  try {
    await request;
    return 'ok';
  } catch (error) {
    const { status, type } = error as { status: number; type: string };
    return `${status} ${type}`;
  }
}
