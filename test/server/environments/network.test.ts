import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type Anthropic from '@anthropic-ai/sdk';
import { expect, it } from 'vitest';
import { toScript, withServer } from '../server.suite.ts';

it.each([true, false])(
  '[W50, EG202] with strictNetwork %s the network of an environment counts for its sessions as it was when they were made, and after a restart',
  async (strictNetwork) => {
    await withSite(async (port) => {
      await withServer(
        async (test) => {
          const networking = { type: 'limited' as const, allowed_hosts: ['localhost'] };
          const environment = await test.client.beta.environments.create({
            name: 'tight',
            config: { type: 'cloud', networking },
          });
          const fetches = (host: string) => [{ call: 'web_fetch', input: { url: `http://${host}:${port}/` } }];
          const agent = await test.client.beta.agents.create({
            name: 'reader',
            model: 'scripted/echo',
            system: toScript([
              fetches('localhost'),
              fetches('127.0.0.1'),
              [{ say: 'done' }],
              fetches('127.0.0.1'),
              [{ say: 'done' }],
            ]),
            tools: [{ type: 'agent_toolset_20260401' }],
          });
          const { id } = await test.client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
          expect(await resultsOf(test.client, id)).toEqual([false, strictNetwork]);
          // What becomes of the environment later is for later sessions.
          await test.client.beta.environments.update(environment.id, {
            config: { type: 'cloud', networking: { type: 'unrestricted' } },
          });
          const { client } = await test.restart();
          expect(await resultsOf(client, id)).toEqual([false, strictNetwork, strictNetwork]);
        },
        { allowedPrivateHosts: ['localhost', '127.0.0.1'], strictNetwork },
      );
    });
  },
  240_000,
);

it('[W53] url_sources counts addresses that users and tools have shown to a session, and not those in text of its agents', async () => {
  await withSite(async (port) => {
    await withServer(
      async ({ client }) => {
        const environment = await client.beta.environments.create({ name: 'here' });
        const fetches = (path: string) => [
          { say: `I made up http://localhost:${port}${path}` },
          { call: 'web_fetch', input: { url: `http://localhost:${port}${path}` } },
        ];
        const url_sources = { user_input: 'all', server_tool_results: 'all', client_tool_results: 'none' } as const;
        const agent = await client.beta.agents.create({
          name: 'reader',
          model: 'scripted/echo',
          // The page links to /linked; no result has shown /secret, and a refusal does not show it either.
          system: toScript([
            fetches('/secret'),
            fetches('/secret'),
            fetches('/linked'),
            fetches('/shown'),
            fetches('/linked'),
            [{ say: 'done' }],
          ]),
          tools: [{ type: 'agent_toolset_20260401', configs: [{ name: 'web_fetch', url_sources }] }],
        });
        const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
        expect(await resultsOf(client, id, `Read (http://localhost:${port}/shown), please.`)).toEqual([
          true,
          true,
          true,
          false,
          false,
        ]);
      },
      { allowedPrivateHosts: ['localhost'] },
    );
  });
}, 240_000);

it('[U160, U161] a session whose MCP server is private gets an error that repeats none of its content, unless the host is allowed', async () => {
  const secret = createServer((_, response) => response.writeHead(500).end('the secret of the house'));
  await once(secret.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(secret.address() as AddressInfo).port}`;
  const errorsWith = async (allowedPrivateHosts: readonly string[]) => {
    const errors: string[] = [];
    const run = async ({ client }: { client: Anthropic }) => {
      const environment = await client.beta.environments.create({ name: 'here' });
      const agent = await client.beta.agents.create({
        name: 'reader',
        model: 'scripted/echo',
        system: toScript([[{ say: 'done' }]]),
        mcp_servers: [{ type: 'url', name: 'x', url: `http://${host}/` }],
        tools: [{ type: 'mcp_toolset', mcp_server_name: 'x' }],
      });
      const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
      await resultsOf(client, id);
      for await (const event of client.beta.sessions.events.list(id)) {
        if (event.type === 'session.error') errors.push(event.error.message);
      }
    };
    await withServer(run, { allowedPrivateHosts });
    return errors;
  };
  expect(await errorsWith([])).toEqual([
    `The MCP server x at http://${host}/ cannot be used: ${host} is not a public address. ` +
      `The operator of this server can allow it with --allow-private-host ${host}`,
  ]);
  expect(await errorsWith([host])).toEqual([
    `The MCP server x at http://${host}/ cannot be used: it answered with status 500`,
  ]);
  secret.close();
}, 240_000);

/** Sends a message, waits until the session is idle, and returns whether the results of its tools are errors. */
async function resultsOf(client: Anthropic, sessionId: string, text = 'go'): Promise<boolean[]> {
  const stream = await client.beta.sessions.events.stream(sessionId);
  const events = [{ type: 'user.message', content: [{ type: 'text', text }] }] as const;
  await client.beta.sessions.events.send(sessionId, { events: [...events] as never });
  for await (const event of stream) if (event.type === 'session.status_idle') break;
  const results: boolean[] = [];
  for await (const event of client.beta.sessions.events.list(sessionId)) {
    if (event.type === 'agent.tool_result') results.push(event.is_error ?? false);
  }
  return results;
}

async function withSite(run: (port: number) => Promise<void>): Promise<void> {
  const server = createServer((_, response) => {
    const { port } = server.address() as AddressInfo;
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<a href="http://localhost:${port}/linked">more</a>`);
  }).listen(0, 'localhost');
  await once(server, 'listening');
  try {
    await run((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}
