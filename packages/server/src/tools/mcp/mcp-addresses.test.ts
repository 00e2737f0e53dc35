import { expect, it } from 'vitest';
import type { ToolboxOptions } from '../registry/create-toolbox.ts';
import type { ToolProblem } from '../toolbox.ts';
import { call, openBench } from '../toolbox.suite.ts';
import { serveMcp } from './mcp-server.suite.ts';

const PRIVATE = /is not a public address\. The operator of this server can allow it with --allow-private-host \S+$/;

it('[U160] a server on this machine or in a private network is refused, however its address is written, and not asked', async () => {
  const server = await serveMcp();
  const { port } = server;
  const hosts = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '0.0.0.0', '127.1'];
  for (const host of [...hosts, '10.0.0.1', '192.168.1.1', '169.254.169.254', '[fd00::1]', '[64:ff9b::7f00:1]']) {
    const { problems, names } = await offer(`http://${host}:${port}/mcp`);
    expect([host, names]).toEqual([host, []]);
    expect(problems).toEqual([
      { type: 'mcp_connection_failed', serverName: 'docs', message: expect.stringMatching(PRIVATE) },
    ]);
  }
  expect(server.methods).toEqual([]);
});

it('[U160] a name is refused by its addresses: only public ones are connected to', async () => {
  const server = await serveMcp();
  const url = `http://docs.example:${server.port}/mcp`;
  const resolved: string[] = [];
  const asIf = (...addresses: string[]): ToolboxOptions => ({
    resolveHost: async (name) => (resolved.push(name), addresses),
    limits: { mcpConnectMs: 300 },
  });
  expect((await offer(url, asIf('10.0.0.1', '127.0.0.1'))).problems[0]?.message).toMatch(PRIVATE);
  expect((await offer(url, asIf())).problems[0]?.message).toMatch(/docs\.example has no address/);
  // Reserved addresses beside loopback.
  expect((await offer(url, asIf('127.0.0.1', '192.0.2.1', '198.18.0.1'))).problems[0]?.message).toMatch(PRIVATE);
  expect(resolved.length).toBeGreaterThanOrEqual(3);
  expect(server.methods).toEqual([]);
});

it('[U160] hosts that the operator names may be private, with any port or with one', async () => {
  const server = await serveMcp();
  const resolveHost = async () => ['127.0.0.1'];
  const url = `http://Docs.Example:${server.port}/mcp`;
  for (const allowed of ['docs.example', `docs.example:${server.port}`, `DOCS.example:${server.port}`]) {
    const { names, problems } = await offer(url, { resolveHost, allowedPrivateHosts: [allowed] });
    expect([allowed, names, problems]).toEqual([allowed, ['mcp__docs__echo'], []]);
  }
  for (const allowed of ['other.example', `docs.example:${server.port + 1}`, '127.0.0.1', 'example']) {
    const { problems } = await offer(url, { resolveHost, allowedPrivateHosts: [allowed] });
    expect([allowed, problems[0]?.message]).toEqual([allowed, expect.stringMatching(PRIVATE)]);
  }
});

it('[U160] a name is looked up and checked again for each connection', async () => {
  const first = await serveMcp();
  let addresses = ['127.0.0.1'];
  const { toolbox } = openBench({ resolveHost: async () => addresses, allowedPrivateHosts: ['docs.example'] });
  const agent = toAgent(`http://docs.example:${first.port}/mcp`);
  const [tool] = (await toolbox.offer(agent)).tools.values();
  await first.stop();
  const second = await serveMcp({ port: first.port });
  addresses = [];
  const { content } = await call(tool!, {}, { workspace: '/' });
  expect(JSON.stringify(content)).toContain('docs.example has no address');
  expect(second.methods).toEqual([]);
});

it('[U160] only http and https addresses are servers', async () => {
  for (const url of ['file:///etc/passwd', 'ftp://x.example/', 'not an address', 'javascript:1']) {
    expect((await offer(url)).problems[0]?.message).toContain('is not an address of a server');
  }
});

function toAgent(url: string) {
  const tools = [{ type: 'mcp_toolset', mcp_server_name: 'docs' }];
  return { tools, mcp_servers: [{ type: 'url', name: 'docs', url }] };
}

async function offer(
  url: string,
  options: ToolboxOptions = {},
): Promise<{ names: string[]; problems: readonly ToolProblem[] }> {
  const { tools, problems } = await openBench(options).toolbox.offer(toAgent(url));
  return { names: [...tools.keys()], problems };
}
