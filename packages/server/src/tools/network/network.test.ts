import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Networking } from '@fleetloom/protocol/managed-agents';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { serveMcp } from '../mcp/mcp-server.suite.ts';
import { toNetworkRules } from './network-rules.ts';
import { noSandbox, openBench, withoutPrograms } from '../toolbox.suite.ts';
import type { ShownUrl } from '../builtin/web-fetch/url-sources.ts';

// Sandboxes and servers are started, and a busy machine takes its time for them.
vi.setConfig({ testTimeout: 120_000 });

const servers: { close(): void }[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe('allowed_hosts', () => {
  it('[W50] an entry is one host, with *. its sub-domains, with a port only that port; every other host is unreachable', () => {
    const names = ['api.example.com', '*.wild.example', 'ported.example:8443', 'https://Pasted.example/x', '[::1]:80'];
    const reached = (text: string) => isAllowed(limited(...names), text);
    expect(reached('https://api.example.com/x')).toBe(true);
    expect(reached('http://API.example.com.:9/')).toBe(true);
    expect(reached('https://a.b.wild.example/')).toBe(true);
    expect(reached('https://ported.example:8443/')).toBe(true);
    expect(reached('https://pasted.example/y')).toBe(true);
    expect(reached('http://[::1]/')).toBe(true);
    for (const other of [
      'https://example.com/',
      'https://sub.api.example.com/',
      'https://api.example.com.evil.example/',
      'https://evilapi.example.com/',
      'https://wild.example/',
      'https://notwild.example/',
      'https://ported.example/',
      'http://[::1]:81/',
    ]) {
      expect([other, reached(other)]).toEqual([other, false]);
    }
  });

  it('[W50] an entry that is not a host allows nothing, and with an empty list no host is allowed', () => {
    for (const entry of ['', '*', '*.', ':443', 'http://', ' ', '/path']) {
      expect([entry, isAllowed(limited(entry), 'https://example.com/')]).toEqual([entry, false]);
    }
    expect(isAllowed(limited(), 'https://example.com/')).toBe(false);
    expect(isAllowed({ type: 'unrestricted' }, 'https://example.com/')).toBe(true);
  });
});

describe('a limited network', () => {
  it('[EG202] is that of the sandbox: web_fetch reaches other hosts too, as far as the agent allows them', async () => {
    const site = await serve(() => undefined);
    const options = { resolveHost: async () => ['127.0.0.1'], allowedPrivateHosts: ['b.example'] };
    const { run } = openBench({ ...options, networking: limited('a.example') });
    const url = `http://b.example:${site.port}/`;
    expect((await run('web_fetch', { url })).isError).toBe(false);
    const refused = await run('web_fetch', { url }, { config: { blocked_domains: ['b.example'] } });
    expect([refused.isError, site.paths]).toEqual([true, ['/']]);
  });

  it('[W50] with strictNetwork web_fetch reaches only its hosts, on redirects too, beside what the agent itself allows', async () => {
    const site = await serve((path) => (path === '/away' ? `http://b.example:${site.port}/` : undefined));
    const names = ['a.example', 'b.example'];
    const { run } = openBench({
      resolveHost: async () => ['127.0.0.1'],
      allowedPrivateHosts: names,
      networking: limited('a.example'),
      strictNetwork: true,
    });
    const fetched = (host: string, path = '/', config = {}) =>
      run('web_fetch', { url: `http://${host}:${site.port}${path}` }, { config });
    expect((await fetched('a.example')).isError).toBe(false);
    const refused =
      `web_fetch: b.example:${site.port} cannot be reached: ` +
      'the environment of this session limits its network (allowed_hosts: a.example)';
    expect((await fetched('b.example')).text).toBe(refused);
    expect((await fetched('a.example', '/away')).text).toBe(refused);
    expect((await fetched('a.example', '/', { blocked_domains: ['a.example'] })).isError).toBe(true);
    expect(site.paths).toEqual(['/', '/away']);
  });

  it.skipIf(noSandbox !== undefined)(
    '[W51] bash has no network then, even where the operator gave it one',
    async () => {
      const site = await serve(() => undefined);
      const command = `exec 3<>/dev/tcp/127.0.0.1/${site.port} && echo connected`;
      const free = openBench({ allowBashNetwork: true, networking: { type: 'unrestricted' } });
      expect((await free.run('bash', { command })).text).toBe('connected');
      const tight = openBench({ allowBashNetwork: true, networking: limited('127.0.0.1') });
      const { text, isError } = await tight.run('bash', { command });
      expect([isError, text.includes('connected')]).toEqual([true, false]);
      expect((await tight.run('bash', { command: 'echo still here' })).text).toBe('still here');
    },
  );

  it('[W51] without a sandbox nothing could hold bash to it, so it does not run', async () => {
    const unsandboxed = { allowUnsandboxedBash: true, findProgram: withoutPrograms('bwrap') };
    const command = 'echo ran';
    expect((await openBench(unsandboxed).run('bash', { command })).text).toBe('ran');
    const { text, isError } = await openBench({ ...unsandboxed, networking: limited() }).run('bash', { command });
    expect([isError, text]).toEqual([true, expect.stringMatching(/limits its network, and without a sandbox/)]);
  });

  it('[W52] MCP servers are asked only where they or all of them are allowed', async () => {
    const mcp = await serveMcp({ kind: 'new' });
    const offer = async (networking: Networking) => {
      const { toolbox } = openBench({ networking, allowedPrivateHosts: ['127.0.0.1'] });
      const { tools, problems } = await toolbox.offer({
        tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs' }],
        mcp_servers: [{ type: 'url', name: 'docs', url: mcp.url }],
      });
      return [tools.size > 0, problems.map(({ type }) => type)];
    };
    const refused = [false, ['mcp_connection_failed']];
    expect(await offer(limited('elsewhere.example'))).toEqual(refused);
    expect(mcp.methods).toEqual([]);
    expect(await offer({ ...limited(), allow_mcp_servers: true })).toEqual([true, []]);
    expect(await offer(limited(new URL(mcp.url).host))).toEqual([true, []]);
  });
});

describe('url_sources', () => {
  const shown: ShownUrl[] = [
    { url: 'http://a.example/user', source: 'user_input' },
    { url: 'http://a.example/client', source: 'client_tool_results', tool: 'lookup' },
    { url: 'http://a.example/server', source: 'server_tool_results', tool: 'web_fetch' },
  ];
  const all = ['/user', '/client', '/server', '/unseen'];

  it('[W53] with it only addresses from its sources are fetched, whatever the tools; without it all', async () => {
    const site = await serve(() => undefined);
    const { run } = openBench({
      resolveHost: async () => ['127.0.0.1'],
      allowedPrivateHosts: ['a.example'],
      readShownUrls: async () => shown.map((each) => ({ ...each, url: withPort(each.url, site.port) })),
    });
    const fetched = async (url_sources: object | null) => {
      const config = { url_sources } as never;
      const paths: string[] = [];
      for (const path of all) {
        const { isError } = await run('web_fetch', { url: `http://a.example:${site.port}${path}#part` }, { config });
        if (!isError) paths.push(path);
      }
      return paths;
    };
    const nothing = { user_input: null, client_tool_results: null, server_tool_results: null };
    const named = (type: string, name: string) => ({ type, tools: [{ type: 'tool_reference', name }] });
    expect(await fetched(null)).toEqual(all);
    expect(await fetched(nothing)).toEqual(['/user', '/client', '/server']);
    expect(await fetched({ ...nothing, user_input: { type: 'none' } })).toEqual(['/client', '/server']);
    expect(await fetched({ ...nothing, client_tool_results: named('only', 'lookup') })).toContain('/client');
    expect(await fetched({ ...nothing, client_tool_results: named('only', 'other') })).not.toContain('/client');
    expect(await fetched({ ...nothing, client_tool_results: named('except', 'lookup') })).not.toContain('/client');
    expect(await fetched({ ...nothing, server_tool_results: { type: 'none' } })).toEqual(['/user', '/client']);
  });
});

function limited(...allowed_hosts: string[]): Extract<Networking, { type: 'limited' }> {
  return { type: 'limited', allowed_hosts, allow_mcp_servers: false, allow_package_managers: false };
}

function isAllowed(networking: Networking, text: string): boolean {
  try {
    toNetworkRules(networking).checkHost(new URL(text));
    return true;
  } catch {
    return false;
  }
}

function withPort(text: string, port: number): string {
  const url = new URL(text);
  url.port = String(port);
  return url.href;
}

/** A site that answers everything, and says where else to go if `toLocation` does. */
async function serve(toLocation: (path: string) => string | undefined): Promise<{ port: number; paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    const location = toLocation(request.url ?? '');
    if (location === undefined) response.writeHead(200, { 'content-type': 'text/plain' }).end('page');
    else response.writeHead(302, { location }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return { port: (server.address() as AddressInfo).port, paths };
}
