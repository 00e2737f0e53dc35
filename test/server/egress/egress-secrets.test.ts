import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { request } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Anthropic from '@anthropic-ai/sdk';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openGitServer } from '../../../packages/server/src/workspaces/clone/git-server.suite.ts';
import { openOrigin, type Origin, world } from '../../../packages/server/src/egress/egress.suite.ts';
import { connect, toScript, type TestServer, withServer } from '../server.suite.ts';
import { createVault, sendAndWait } from '../vaults/vaults.suite.ts';
import { choose, MODEL, run } from '../programs/programs.suite.ts';
import type { ServerOptions } from '../../../packages/server/src/server.ts';
import { noSandbox } from '../../../packages/server/src/tools/toolbox.suite.ts';

// Sandboxes are started, and a busy machine takes its time for them.
vi.setConfig({ testTimeout: 240_000 });

const SECRET = 'sk-canary-4711';
const ADDRESS = '127.0.0.2';

/** A session with a variable API_KEY for the host, whose agent runs one command for each message. */
async function openSession(
  { client }: Pick<TestServer, 'client'>,
  origin: Pick<Origin, 'port'>,
  commands: readonly string[],
  hosts = [ADDRESS],
) {
  const { beta } = client;
  const { environmentId, vault, auth } = await createEnvironment({ client }, origin, hosts);
  const turns = commands.flatMap((command) => [[{ call: 'bash', input: { command } }], [{ say: 'done' }]]);
  const tools = [{ type: 'agent_toolset_20260401' as const }];
  const agent = await beta.agents.create({ name: 'a', model: 'scripted/inline', system: toScript(turns), tools });
  const session = await beta.sessions.create({
    agent: agent.id,
    environment_id: environmentId,
    vault_ids: [vault.id],
  });
  return { id: session.id, vault, auth };
}

/** An environment that allows the host, and a vault with the variable API_KEY for these hosts. */
async function createEnvironment(
  { client }: Pick<TestServer, 'client'>,
  { port }: Pick<Origin, 'port'>,
  hosts = [ADDRESS],
) {
  const { beta } = client;
  const auth = {
    type: 'environment_variable' as const,
    secret_name: 'API_KEY',
    secret_value: SECRET,
    networking: { type: 'limited' as const, allowed_hosts: hosts },
  };
  const vault = await createVault(client, auth);
  const networking = { type: 'limited' as const, allowed_hosts: [`${ADDRESS}:${port}`] };
  const environment = await beta.environments.create({ name: 'e', config: { type: 'cloud', networking } });
  return { environmentId: environment.id, vault, auth };
}

async function runNext(client: Anthropic, sessionId: string): Promise<string> {
  const events = await sendAndWait(client, sessionId);
  const results = events.flatMap((event) => (event.type === 'agent.tool_result' ? (event.content ?? []) : []));
  return results.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function withEgress(
  run: (test: TestServer, origin: Origin) => Promise<void>,
  options: Partial<ServerOptions> = {},
): Promise<void> {
  return (async () => {
    const origin = await openOrigin({ name: ADDRESS, address: ADDRESS });
    const directory = mkdtempSync(join(tmpdir(), 'fleetloom-egress-ca-'));
    const egressCa = join(directory, 'ca.pem');
    writeFileSync(egressCa, world.certificate);
    await withServer((test) => run(test, origin), { allowedPrivateHosts: [ADDRESS], egressCa, ...options });
    rmSync(directory, { recursive: true });
  })();
}

it.skipIf(noSandbox !== undefined)(
  '[EG40] a command has a placeholder in its variable, and the host that the credential allows receives the secret',
  async () => {
    await withEgress(async (test, origin) => {
      const url = `https://${ADDRESS}:${origin.port}`;
      const { id, vault, auth } = await openSession(test, origin, [
        'echo $API_KEY; env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n"; ls /fleetloom',
        `curl -sS -H "Authorization: Bearer $API_KEY" -d "k=$API_KEY" ${url}/a`,
        `curl -sS -u "user:$API_KEY" ${url}/b`,
        `node -e 'console.log(process.env.NODE_EXTRA_CA_CERTS)'; curl -sS -H "X: $API_KEY" ${url}/c`,
        `curl -sS -H "X: $API_KEY" ${url}/d`,
      ]);
      const shown = await runNext(test.client, id);
      const placeholder = shown.split('\n')[0]!;
      expect(placeholder).toMatch(/^flph_[A-Za-z0-9]{40}$/);
      expect(shown).not.toContain(SECRET);
      expect(await runNext(test.client, id)).toBe('hello');
      expect(origin.seen.at(-1)).toMatchObject({ headers: { authorization: `Bearer ${SECRET}` }, body: `k=${SECRET}` });
      expect(await runNext(test.client, id)).toBe('hello');
      const [, basic] = origin.seen.at(-1)!.headers.authorization!.split(' ');
      expect(Buffer.from(basic!, 'base64').toString()).toBe(`user:${SECRET}`);

      // The same placeholder gives the new secret, after a restart of the server too.
      const { secret_value: _, secret_name: __, ...kept } = auth;
      const rotated = { ...kept, secret_value: 'sk-canary-rotated' };
      await test.client.beta.vaults.credentials.update(vault.credentials[0]!, { vault_id: vault.id, auth: rotated });
      const { client } = await test.restart();
      expect(await runNext(client, id)).toContain('/fleetloom/egress-ca.pem');
      expect(origin.seen.at(-1)!.headers['x']).toBe('sk-canary-rotated');
      await client.beta.vaults.credentials.archive(vault.credentials[0]!, { vault_id: vault.id });
      expect(await runNext(client, id)).toMatch(/certificate|hello/);
      expect(origin.seen.at(-1)!.headers['x']).not.toContain('canary');
    });
  },
);

it.skipIf(noSandbox !== undefined)(
  '[EG81] npm, with a cafile of its own, pip and wget trust the authority of the session, whatever they read it from',
  async () => {
    await withEgress(async (test, origin) => {
      const url = `https://${ADDRESS}:${origin.port}`;
      const { id } = await openSession(test, origin, [
        `echo cafile=/etc/ssl/certs/ca-certificates.crt > .npmrc; npm view six --registry ${url}/npm --fetch-retries 0 2>&1
         pip download -q --retries 0 --index-url ${url}/pip six 2>&1; wget -O- ${url}/wget 2>&1
         for name in pip wget; do command -v $name > /dev/null && echo "has $name"; done`,
      ]);
      const shown = await runNext(test.client, id);
      // npm takes an address for another name, after it has accepted the authority.
      expect(shown).not.toMatch(/unable to (verify|get)|self.signed|issuer/i);
      const installed = [...shown.matchAll(/^has (\w+)$/gm)].map(([, name]) => name);
      const asked = new Set(origin.seen.map(({ url: path }) => path?.split('/')[1]));
      expect([...asked]).toEqual(installed);
    });
  },
);

it.skipIf(noSandbox !== undefined)(
  '[EG206] git clones from and pushes to a real git host with the placeholder as its password, and the token is in no file of the clone',
  async () => {
    const host = await openGitServer();
    host.addRepository('team/app', { 'README.md': 'hello' });
    host.allow('team/app', SECRET, 'write');
    const port = await serveByHttps(host.origin);
    await withEgress(async (test) => {
      const url = `https://x-access-token:$API_KEY@${ADDRESS}:${port}/team/app.git`;
      const commit = 'git -c user.name=a -c user.email=a@b commit -qm more';
      const { id } = await openSession(test, { port }, [
        `git clone -q ${url} app 2>&1 && cat app/README.md && cd app && echo more > more && git add more && ${commit}
         git push -q origin HEAD:refs/heads/topic 2>&1; cat .git/config; grep -rc ${SECRET.slice(3)} . | grep -v ':0$'`,
        `git ls-remote https://${ADDRESS}:${port}/team/app.git 2>&1 < /dev/null`,
      ]);
      const shown = await runNext(test.client, id);
      expect(shown).toMatch(/^hello/);
      expect(shown).toContain('x-access-token:flph_');
      expect(host.git('team/app', 'log', '--format=%s', '-1', 'topic').trim()).toBe('more');
      expect(await runNext(test.client, id)).toMatch(/could not read Username|Authentication failed/);
    });
  },
);

/** The git host by https, at the address that sandboxes reach. */
async function serveByHttps(origin: string): Promise<number> {
  const server = createSecureServer(world.issue(ADDRESS), (incoming, outgoing) => {
    const { method, headers } = incoming;
    const forwarded = request(`${origin}${incoming.url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, ADDRESS);
  await once(server, 'listening');
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  return (server.address() as AddressInfo).port;
}

it.skipIf(noSandbox !== undefined)(
  '[EG41, EG108] the secret is in no response, event, log, metric, file of the server, argument or environment of a process',
  async () => {
    await withEgress(async (test, origin) => {
      const url = `https://${ADDRESS}:${origin.port}`;
      const { id, vault } = await openSession(test, origin, [
        `for n in 1 2 3; do curl -sS -H "X: $API_KEY" ${url}/ > /dev/null; done; curl -sS -H "X: $API_KEY" ${url}/; sleep 0.1`,
      ]);
      expect(await runNext(test.client, id)).toBe('hello');
      expect(origin.seen.at(-1)!.headers['x']).toBe(SECRET);
      const headers = { 'x-api-key': test.key };
      const read = async (path: string) => (await fetch(`${test.url}${path}`, { headers })).text();
      const paths = [
        `/v1/sessions/${id}`,
        `/v1/sessions/${id}/events?limit=100`,
        `/v1/sessions/${id}/export`,
        '/metrics',
        '/v1/vaults',
        '/v1/fleet/audit?limit=1000',
      ];
      const texts = await Promise.all(paths.map(read));
      expect(texts[1]).toContain('hello');
      const { data: entries } = JSON.parse(texts.at(-1)!) as { data: { entry: Record<string, unknown> }[] };
      const used = entries.filter(({ entry }) => entry['action'] === 'vault_credential.used');
      const details = { vault_id: vault.id, session_id: id, host: ADDRESS, as: 'variable' };
      expect(used.map(({ entry }) => entry)).toMatchObject([{ target: vault.credentials[0], details }]);
      const commandLines = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
      const processes = commandLines.flatMap((pid) =>
        ['cmdline', 'environ'].map((name) => readQuietly(join('/proc', pid, name))),
      );
      const files = readdirSync(test.directory, { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      );
      const contents = files.map(({ parentPath, name }) => [name, readQuietly(join(parentPath, name))] as const);
      expect(contents.map(([name]) => name)).toContain('fleetloom.db');
      for (const text of [...texts, ...processes]) expect(text.includes(SECRET)).toBe(false);
      for (const [name, text] of contents) expect([name, text.includes(SECRET)]).toEqual([name, false]);
    });
  },
);

it.skipIf(noSandbox !== undefined)(
  '[EG35] a host that the environment allows and the credential does not receives the placeholder, and its own certificate is seen',
  async () => {
    await withEgress(async (test, origin) => {
      const command = `curl -sSv -H "X: $API_KEY" https://${ADDRESS}:${origin.port}/ 2>&1 | grep -E "hello|issuer"`;
      const { id } = await openSession(test, origin, [command], ['api.example.com']);
      const text = await runNext(connect(test.url, test.key), id);
      expect(text).toContain('hello');
      expect(origin.seen.at(-1)!.headers['x']).toMatch(/^flph_/);
      expect(text).toContain(/CN=(Fleetloom egress \w+)/.exec(describe(world.certificate))![1]!);
    });
  },
);

it.skipIf(noSandbox !== undefined)(
  '[EG60] commands of a program engine have the placeholder and the same proxy, whose entries are in the log of the session',
  async () => {
    await withEgress(
      async (test, origin) => {
        const at = `${ADDRESS}:${origin.port}`;
        const { environmentId, vault } = await createEnvironment(test, origin);
        const { beta } = test.client;
        const agent = await beta.agents.create({ name: 'shell', model: MODEL });
        const { id } = await beta.sessions.create({
          agent: agent.id,
          environment_id: environmentId,
          vault_ids: [vault.id],
        });
        const curl = 'curl -sS --max-time 10';
        const said = await run(
          test,
          id,
          `echo $API_KEY; ${curl} -H "X: $API_KEY" https://${at}/a 2>&1; echo
           ${curl} -p -x "$HTTPS_PROXY" http://${at}/ 2>&1; ${curl} https://127.0.0.3:${origin.port}/ 2>&1; true`,
        );
        const [placeholder, first, ...others] = said.split('\n');
        expect([placeholder, first]).toEqual([expect.stringMatching(/^flph_\w{40}$/), 'hello']);
        expect(origin.seen).toMatchObject([{ url: '/a', headers: { x: SECRET } }]);
        expect(others.join(' ')).toMatch(/403/);
        const response = await fetch(`${test.url}/v1/sessions/${id}/egress`, { headers: { 'x-api-key': test.key } });
        const { data } = (await response.json()) as { data: { outcome: string; reason: string | null }[] };
        expect(data).toContainEqual(
          expect.objectContaining({ outcome: 'closed', credentials: { [vault.credentials[0]!]: 1 } }),
        );
        expect(data).toContainEqual(expect.objectContaining({ outcome: 'refused', host: '127.0.0.3' }));
      },
      { claudeCode: choose() },
    );
  },
);

function describe(certificate: string): string {
  return new (process.getBuiltinModule('node:crypto').X509Certificate)(certificate).subject;
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // It ended, or belongs to another user.
    return '';
  }
}
