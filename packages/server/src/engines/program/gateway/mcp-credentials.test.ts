import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { McpAuthorization } from '../../../base/outgoing-http.ts';
import { listen, serveProtectedMcp } from '../../../vaults/oauth-mcp.suite.ts';
import { programLimits } from '../limits.ts';
import { whyUnenforceable } from '../launch/program-place.ts';
import type { ProgramOptions } from '../program.ts';
import { ask, nowhere, readAll, serveEndpoint } from './gateway.suite.ts';
import { openGateway } from './gateway.ts';

/** A session whose program is in a sandbox, with an MCP server and credentials for it. */
async function openSession(url: string, authorization?: McpAuthorization) {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-sockets-'));
  const problems: unknown[] = [];
  const gateway = await openGateway({
    sockets: { directory, port: 4285 },
    onProblem: (problem) => problems.push(problem),
  });
  onTestFinished(async () => {
    await gateway.close();
    await rm(directory, { recursive: true, force: true });
  });
  const session = await gateway.open({
    ...nowhere,
    network: { ...nowhere.network, findMcpServer: async () => ['127.0.0.1'] },
    upstream: await serveEndpoint((_, response) => void response.end()),
    mcpServers: [{ name: 'desk', url }],
    authorization,
    onEvent: () => {},
  });
  return { session, problems, path: session.mcpUrlOf('desk').slice(session.baseURL.length) };
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'program', version: '1' } },
});
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

it('[VT36] a program reaches an MCP server through a relay that adds the credential, in place of whatever the program sends', async () => {
  const mcp = await serveProtectedMcp('canary');
  const asked: string[] = [];
  const { session, path } = await openSession(mcp.url, {
    find: async (url) => (asked.push(url), 'Bearer canary'),
    version: async () => '1',
  });
  const answer = await ask(session, {
    path,
    headers: { ...headers, authorization: 'Bearer own', 'x-api-key': 'own', cookie: 'a=own' },
    body: initialize,
  });
  expect([answer.statusCode, (await readAll(answer)).toString()]).toEqual([200, expect.stringContaining('"result"')]);
  expect(mcp.mcp.headers()).not.toHaveProperty('x-api-key');
  expect(mcp.mcp.headers()).not.toHaveProperty('cookie');
  expect([mcp.seen, asked]).toEqual([['Bearer canary'], [mcp.url]]);
  // Nothing that the program is started with has it.
  expect(JSON.stringify([session.environment({}), session.mcpUrlOf('desk')])).not.toContain('canary');
});

it('[VT36] after a 401 the request of a program is sent once more with a renewed credential, whole', async () => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const hash = createHash('sha256');
    request.on('data', (part) => hash.update(part));
    request.on('end', () => {
      bodies.push(`${request.headers.authorization} ${hash.digest('hex')}`);
      response.writeHead(request.headers.authorization === 'Bearer new' ? 200 : 401).end('answer');
    });
  });
  const url = `http://${await listen(server)}/mcp`;
  let renewed: string | undefined = 'Bearer new';
  const { session, path } = await openSession(url, {
    find: async (_, rejected) => (rejected === undefined ? 'Bearer old' : renewed),
    version: async () => '1',
  });
  const body = Buffer.alloc(3 * 1024 * 1024, 'x');
  const digest = createHash('sha256').update(body).digest('hex');
  expect((await ask(session, { path, headers, body })).statusCode).toBe(200);
  expect(bodies).toEqual([`Bearer old ${digest}`, `Bearer new ${digest}`]);
  renewed = undefined;
  expect((await ask(session, { path, headers, body })).statusCode).toBe(401);
  expect(bodies).toHaveLength(3);
});

it('[VT67] bodies of a session that are kept to be sent again have up to 32 MiB; others are sent once', async () => {
  const seen: string[] = [];
  let finish = () => {};
  const gate = new Promise<void>((resolve) => (finish = resolve));
  const { gatewayMcpHeldBytesMax: max } = programLimits;
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (part: Buffer) => (bytes += part.length));
    request.on('end', () => {
      seen.push(`${request.headers.authorization} ${bytes}`);
      const answer = () => response.writeHead(request.headers.authorization === 'Bearer new' ? 200 : 401).end();
      if (bytes > max / 2) void gate.then(answer);
      else answer();
    });
  });
  const { session, path } = await openSession(`http://${await listen(server)}/mcp`, {
    find: async (_, rejected) => (rejected === undefined ? 'Bearer old' : 'Bearer new'),
    version: async () => '1',
  });
  const send = async (bytes: number) => {
    const answer = await ask(session, { path, headers, body: Buffer.alloc(bytes, 'x') });
    answer.resume();
    return answer.statusCode;
  };
  const large = send(max - 10);
  await vi.waitFor(() => expect(seen).toHaveLength(1), { timeout: 20_000 });
  expect([await send(10), await send(11)]).toEqual([200, 401]);
  finish();
  expect(await large).toBe(200);
  expect(await send(11)).toBe(200);
  // A length that is not known before.
  const chunked = { ...headers, 'transfer-encoding': 'chunked' };
  expect((await ask(session, { path, headers: chunked, body: 'x' })).statusCode).toBe(401);
});

it('[VT36, VT65] a credential that cannot be read fails the request without the reason, and nothing is sent', async () => {
  const mcp = await serveProtectedMcp('token');
  const broken = async () => Promise.reject(new Error('a stored secret cannot be opened'));
  const { session, problems, path } = await openSession(mcp.url, { find: broken, version: broken });
  const answer = await ask(session, { path, headers, body: initialize });
  expect(answer.statusCode).toBe(502);
  const text = (await readAll(answer)).toString();
  expect(text).toContain('its credential cannot be read');
  expect(text).not.toContain('stored secret');
  expect(problems).toEqual([expect.objectContaining({ message: 'a stored secret cannot be opened' })]);
  expect(mcp.seen).toEqual([]);
});

it('[VT36] a program without a sandbox does not start in a session with vaults', () => {
  const asked = { hasVaults: true } as ProgramOptions;
  expect(whyUnenforceable(asked, false)).toContain('could read the secrets of the vaults');
  expect(whyUnenforceable(asked, true)).toBeNull();
});
