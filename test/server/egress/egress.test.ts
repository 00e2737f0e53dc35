import { realpathSync } from 'node:fs';
import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it, vi } from 'vitest';
import { createAuthority } from '../../../packages/server/src/egress/authority.ts';
import {
  type BenchOptions,
  limited,
  openEgressBench,
  openOrigin,
  world,
} from '../../../packages/server/src/egress/egress.suite.ts';
import { toScript, withServer } from '../server.suite.ts';
import { sendAndWait } from '../vaults/vaults.suite.ts';
import { findProgram } from '../../../packages/server/src/tools/find-program.ts';
import { noSandbox, openBench } from '../../../packages/server/src/tools/toolbox.suite.ts';

// Sandboxes are started, and a busy machine takes its time for them.
vi.setConfig({ testTimeout: 120_000 });

const perl = await findProgram('perl');

/** The bash of a session whose environment allows some hosts. */
async function openShell(options: BenchOptions = {}) {
  const egress = await openEgressBench({ trusted: world.certificate, ...options });
  const mounts = { isWritable: true, readOnlyPaths: [], writablePaths: [], egress: egress.sandbox };
  const tools = openBench({ networking: options.networking ?? limited('a.example'), openMounts: async () => mounts });
  const run = async (command: string) => (await tools.run('bash', { command })).text;
  return { egress, run };
}

describe.skipIf(noSandbox !== undefined)('bash in a limited environment', () => {
  it('[EG20, EG80] reaches an allowed host with curl and git, by http and https, and gets the reason why it does not reach others', async () => {
    const secure = await openOrigin({ name: 'a.example' });
    const plain = await openOrigin();
    const { run, egress } = await openShell({ ports: { 'a.example:443': secure.port, 'a.example:80': plain.port } });
    expect(await run('curl -sS https://a.example/x')).toBe('hello');
    expect(await run('curl -sS http://a.example/y')).toBe('hello');
    expect(await run('curl -sS http://b.example/y')).toMatch(
      /^b\.example:80 is not allowed: .* add b\.example to its allowed_hosts/,
    );
    expect(await run('curl -sSv https://b.example/ 2>&1')).toMatch(
      /< HTTP\/1\.1 403 b\.example:443 is not allowed: [\s\S]*x-fleetloom-egress: denied/,
    );
    await run('git ls-remote https://a.example/r');
    expect(secure.seen.slice(0, 2).map(({ url }) => url)).toEqual(['/x', '/r/info/refs?service=git-upload-pack']);
    expect(plain.seen.map(({ url }) => url)).toEqual(['/y']);
    await expect.poll(() => egress.entries.filter(({ outcome }) => outcome === 'refused').length).toBe(2);
  });

  it('[EG21] has no other way out: no name is resolved, and neither TCP, UDP, ICMP nor IPv6 leaves the sandbox', async () => {
    const origin = await openOrigin({ name: 'a.example' });
    const { run, egress } = await openShell({ ports: { 'a.example:443': origin.port } });
    const tcp = (host: string) => `timeout 3 bash -c 'exec 3<>/dev/tcp/${host}/${origin.port}' 2>&1 && echo OUT`;
    const attempts = [
      'getent hosts a.example && echo OUT',
      'getent ahosts example.com && echo OUT',
      'curl -sS --noproxy "*" --max-time 3 https://a.example/ && echo OUT',
      `curl -sS --noproxy "*" --max-time 3 http://127.0.0.1:${origin.port}/ && echo OUT`,
      'curl -sS --noproxy "*" --max-time 3 http://93.184.216.34/ && echo OUT',
      'curl -sS --noproxy "*" --max-time 3 -6 "http://[2606:4700::1111]/" && echo OUT',
      tcp('127.0.0.1'),
      tcp('93.184.216.34'),
      tcp('169.254.169.254'),
      tcp('::1'),
      "timeout 3 bash -c 'echo x > /dev/udp/8.8.8.8/53' 2>&1 && echo OUT",
      'ping -c 1 -W 1 127.0.0.2 >/dev/null 2>&1; ip route 2>/dev/null | grep default && echo OUT',
      'cat /proc/net/route | tail -n +2 | grep . && echo OUT',
    ];
    for (const attempt of attempts) expect([attempt, (await run(attempt)).includes('OUT')]).toEqual([attempt, false]);
    expect(origin.seen).toEqual([]);
    expect(egress.entries).toEqual([]);
  });

  it.skipIf(perl === undefined)('[EG21] raw, packet and netlink sockets are not made', async () => {
    const { run } = await openShell();
    // Families and types by their numbers: raw IPv4 and IPv6, packets, datagrams to a name server, and a connection.
    const script = `use Socket;
      for my $s ([2,3,1],[2,3,255],[10,3,58],[17,3,768],[17,2,768]) { print "MADE @$s\\n" if socket(my $x, $s->[0], $s->[1], $s->[2]); }
      socket(my $u, 2, 2, 17); print "SENT\\n" if send($u, 'x', 0, pack_sockaddr_in(53, inet_aton('8.8.8.8')));
      socket(my $t, 2, 1, 6); print "CONNECTED\\n" if connect($t, pack_sockaddr_in(443, inet_aton('93.184.216.34')));
      print 'done';`;
    expect(await run(`perl -e '${script.replaceAll("'", `'\\''`)}'`)).toBe('done');
  });

  it('[EG22] sees the sockets of its own session only, and the certificate of a host as the host has it', async () => {
    const origin = await openOrigin({ name: 'a.example' });
    const foreign = await openEgressBench();
    const { run } = await openShell({ ports: { 'a.example:443': origin.port } });
    expect(await run('ls -d /fleetloom/*.sock')).toBe('/fleetloom/egress.sock');
    expect(await run(`ls ${realpathSync(foreign.socketPath)} 2>&1`)).toContain('No such file');
    const own = await run('curl -sSv https://a.example/ 2>&1 | grep issuer');
    expect(own).toContain('Fleetloom egress');
    // A host whose certificate is of an authority that is not known is not trusted by its client.
    const other = await openOrigin({ name: 'a.example', issuer: createAuthority() });
    const second = await openShell({ ports: { 'a.example:443': other.port } });
    expect(await second.run('curl -sS https://a.example/ 2>&1')).toMatch(/certificate/);
  });

  it('[EG23] may use the socket itself, which is the same proxy', async () => {
    const { run } = await openShell();
    const raw = (text: string) =>
      run(`printf '${text}' | timeout 5 curl -sS --unix-socket /fleetloom/egress.sock -x '' http://b.example/ 2>&1`);
    expect(await raw('')).toContain('this is a proxy');
    expect(
      await run('curl -sS --max-time 5 -x http://127.0.0.1:3128 http://127.0.0.1:3128/ --noproxy "" 2>&1'),
    ).toContain('is not allowed');
  });
});

describe.skipIf(noSandbox !== undefined)('a server', () => {
  it('[EG24, EG50] opens what the environment of a session allowed when it was made, logs each connection, and closes with the session', async () => {
    const origin = await openOrigin({ address: '127.0.0.2' });
    const get = (host: string) => [{ call: 'bash', input: { command: `curl -sS http://${host}:${origin.port}/` } }];
    const turns = [
      get('127.0.0.2'),
      get('127.0.0.3'),
      [{ say: 'done' }],
      get('127.0.0.2'),
      get('127.0.0.3'),
      [{ say: 'done' }],
    ];
    const options = { allowedPrivateHosts: ['127.0.0.2', '127.0.0.3'] };
    await withServer(async (test) => {
      const networking = { type: 'limited' as const, allowed_hosts: [`127.0.0.2:${origin.port}`] };
      const { beta } = test.client;
      const environment = await beta.environments.create({ name: 'tight', config: { type: 'cloud', networking } });
      const tools = [{ type: 'agent_toolset_20260401' as const }];
      const agent = await beta.agents.create({ name: 'a', model: 'scripted/inline', system: toScript(turns), tools });
      const { id } = await beta.sessions.create({ agent: agent.id, environment_id: environment.id });
      expect(await resultsOf(test.client, id)).toEqual(['hello', expect.stringContaining('is not allowed')]);
      // What becomes of the environment later is for later sessions.
      const other = { ...networking, allowed_hosts: [`127.0.0.3:${origin.port}`] };
      await beta.environments.update(environment.id, { config: { type: 'cloud', networking: other } });
      const restarted = await test.restart();
      expect((await resultsOf(restarted.client, id)).slice(2)).toEqual([
        expect.stringContaining('hello'),
        expect.stringContaining('is not allowed'),
      ]);
      expect(origin.seen.length).toBe(2);
      const headers = { 'x-api-key': restarted.key };
      const read = async (path: string) => await fetch(`${restarted.url}${path}`, { headers });
      const list = async (query = '') => {
        const response = await read(`/v1/sessions/${id}/egress${query}`);
        return (await response.json()) as { data: Record<string, unknown>[]; next_page: string | null };
      };
      await expect.poll(async () => (await list()).data.length).toBe(6);
      const all = (await list()).data;
      expect(all.map(({ outcome }) => String(outcome)).toSorted((one, other) => one.localeCompare(other))).toEqual([
        'closed',
        'closed',
        'opened',
        'opened',
        'refused',
        'refused',
      ]);
      expect(all.find(({ outcome }) => outcome === 'refused')).toMatchObject({
        type: 'egress_connection',
        host: '127.0.0.3',
        port: origin.port,
        protocol: 'http',
        reason: 'host_not_allowed',
        bytes_sent: null,
      });
      const closed = all.find(({ outcome }) => outcome === 'closed')!;
      expect(closed).toMatchObject({ host: '127.0.0.2', protocol: 'http', credentials: {}, reason: null });
      expect(Number(closed['bytes_sent']) > 50 && Number(closed['bytes_received']) > 50).toBe(true);
      const first = await list('?limit=4');
      const second = await list(`?limit=4&page=${first.next_page}`);
      expect([...first.data, ...second.data]).toEqual(all);
      expect(second.next_page).toBeNull();
      expect((await read(`/v1/sessions/${id}/egress?page=page_x`)).status).toBe(400);
      expect((await read(`/v1/sessions/${id}1/egress`)).status).toBe(404);
      const metrics = await (await read('/metrics')).text();
      expect(metrics).toContain('fleetloom_egress_connections_total{outcome="opened"} 1');
      expect(metrics).toContain('fleetloom_egress_connections_total{outcome="refused"} 1');
      expect(metrics).toMatch(/fleetloom_egress_bytes_total\{direction="received"\} [1-9]/);
    }, options);
  });

  it('[EG25] leaves unrestricted environments closed unless the operator opens them, and closes all with none', async () => {
    const origin = await openOrigin({ address: '127.0.0.2' });
    const command = `curl -sS --max-time 5 http://127.0.0.2:${origin.port}/ 2>&1; env | grep -c PROXY`;
    const outputOf = async (bashNetwork: 'none' | 'limited' | 'open', networking: SdkNetworking) => {
      let text = '';
      await withServer(
        async ({ client: { beta }, client }) => {
          const environment = await beta.environments.create({ name: 'e', config: { type: 'cloud', networking } });
          const tools = [{ type: 'agent_toolset_20260401' as const }];
          const system = toScript([[{ call: 'bash', input: { command } }], [{ say: 'done' }]]);
          const agent = await beta.agents.create({ name: 'a', model: 'scripted/inline', system, tools });
          const { id } = await beta.sessions.create({ agent: agent.id, environment_id: environment.id });
          text = (await resultsOf(client, id))[0] ?? '';
        },
        { bashNetwork, allowedPrivateHosts: ['127.0.0.2'] },
      );
      return text;
    };
    const listed = { type: 'limited' as const, allowed_hosts: [`127.0.0.2:${origin.port}`] };
    expect(await outputOf('limited', { type: 'unrestricted' })).toMatch(/connect[\s\S]*\n0\b/);
    expect(await outputOf('none', listed)).toMatch(/connect[\s\S]*\n0\b/);
    expect(await outputOf('open', { type: 'unrestricted' })).toContain(
      'use the name of the host instead of its address',
    );
    expect(origin.seen).toEqual([]);
  });
});

type SdkNetworking = NonNullable<Anthropic.Beta.BetaCloudConfigParams['networking']>;

/** The results of all commands of a session, after one more message. */
async function resultsOf(client: Anthropic, sessionId: string): Promise<string[]> {
  await sendAndWait(client, sessionId);
  const results: string[] = [];
  for await (const event of client.beta.sessions.events.list(sessionId)) {
    if (event.type !== 'agent.tool_result') continue;
    results.push((event.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join(''));
  }
  return results;
}
