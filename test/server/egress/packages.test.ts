import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { openOrigin, type Origin, world } from '../../../packages/server/src/egress/egress.suite.ts';
import { toScript, type TestServer, withServer } from '../server.suite.ts';
import { createVault, sendAndWait } from '../vaults/vaults.suite.ts';
import type { ServerOptions } from '../../../packages/server/src/server.ts';
import { listManagers } from '../../../packages/server/src/tools/packages/package-commands.ts';
import { noSandbox } from '../../../packages/server/src/tools/toolbox.suite.ts';

// Sandboxes and package managers are started, and a busy machine takes its time for them.
vi.setConfig({ testTimeout: 240_000 });

const ADDRESS = '127.0.0.2';
const SECRET = 'sk-canary-packages';
const has = (name: string) => listManagers().some(({ manager, path }) => manager === name && path !== undefined);
const hasPip = has('pip') && readVersion() !== '';

function readVersion(): string {
  try {
    return execFileSync('/usr/bin/python3', ['-m', 'pip', '--version'], { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return '';
  }
}

let files: string;
beforeAll(() => {
  files = mkdtempSync(join(tmpdir(), 'fleetloom-packages-'));
  writeFileSync(join(files, 'ca.pem'), world.certificate);
  // A package of npm with a program and a script that is run when it is installed.
  mkdirSync(join(files, 'package'));
  const about = {
    name: 'greeter',
    version: '1.0.0',
    main: 'greet.js',
    bin: { greet: 'greet.js' },
    scripts: { install: "node -e \"require('fs').writeFileSync('seen.json', JSON.stringify(process.env))\"" },
  };
  writeFileSync(join(files, 'package', 'package.json'), JSON.stringify(about));
  writeFileSync(
    join(files, 'package', 'greet.js'),
    '#!/usr/bin/env node\nif (require.main === module) console.log("hi by npm");\nmodule.exports = "module by npm";\n',
    { mode: 0o755 },
  );
  execFileSync('tar', ['czf', join(files, 'greeter.tgz'), '-C', files, 'package']);
  if (!hasPip) return;
  const wheel = `import zipfile, sys
z = zipfile.ZipFile(sys.argv[1], 'w')
z.writestr('sixish.py', 'name = "module by pip"')
z.writestr('sixish-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: sixish\\nVersion: 1.0\\n')
z.writestr('sixish-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
z.writestr('sixish-1.0.dist-info/RECORD', '')
z.close()`;
  execFileSync('/usr/bin/python3', ['-c', wheel, join(files, 'sixish-1.0-py3-none-any.whl')]);
});
afterAll(() => rmSync(files, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

/** An index of Python packages by https, and a registry of npm by http: through a proxy npm verifies no addresses. */
async function openRegistries(): Promise<readonly Origin[]> {
  const index = await openOrigin({ name: ADDRESS, address: ADDRESS }, answer);
  const registry = await openOrigin({ address: ADDRESS }, answer);
  vi.stubEnv('PIP_INDEX_URL', `https://${ADDRESS}:${index.port}/simple`);
  vi.stubEnv('npm_config_registry', `http://${ADDRESS}:${registry.port}/`);
  return [index, registry];
}

function answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  const link = '<!doctype html><a href="/sixish-1.0-py3-none-any.whl">sixish-1.0-py3-none-any.whl</a>';
  const dist = { tarball: `http://${headers.host}/greeter.tgz` };
  const versions = {
    '1.0.0': { name: 'greeter', version: '1.0.0', bin: { greet: 'greet.js' }, hasInstallScript: true, dist },
  };
  if (url === '/simple/sixish/') response.setHeader('content-type', 'text/html').end(link);
  else if (url === '/greeter')
    response.end(JSON.stringify({ name: 'greeter', 'dist-tags': { latest: '1.0.0' }, versions }));
  else if (/^\/[\w.-]+\.(?:whl|tgz)$/.test(url)) response.end(readFileSync(join(files, url)));
  else response.writeHead(404).end();
}

function countSeen(registries: readonly Origin[]): number {
  return registries.reduce((sum, { seen }) => sum + seen.length, 0);
}

async function withRegistry(
  run: (test: TestServer, registries: readonly Origin[]) => Promise<void>,
  options: Partial<ServerOptions> = {},
): Promise<void> {
  const registries = await openRegistries();
  const given = {
    allowedPrivateHosts: [ADDRESS],
    packageHosts: registries.map(({ port }) => `${ADDRESS}:${port}`),
    egressCa: join(files, 'ca.pem'),
  };
  await withServer((test) => run(test, registries), { ...given, ...options });
}

/** A session whose agent runs one command for each message. */
async function openSession(
  { client }: Pick<TestServer, 'client'>,
  packages: object,
  commands: readonly string[],
  more: { readonly vault_ids?: string[]; readonly networking?: object } = {},
): Promise<string> {
  const { networking = { type: 'limited', allow_package_managers: true }, ...others } = more;
  const config = { type: 'cloud' as const, networking, packages } as never;
  const environment = await client.beta.environments.create({ name: 'e', config });
  const turns = commands.flatMap((command) => [[{ call: 'bash', input: { command } }], [{ say: 'done' }]]);
  const tools = [{ type: 'agent_toolset_20260401' as const }];
  const agent = await client.beta.agents.create({
    name: 'a',
    model: 'scripted/inline',
    system: toScript(turns),
    tools,
  });
  const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id, ...others });
  return session.id;
}

async function runNext(client: Anthropic, sessionId: string) {
  const events = await sendAndWait(client, sessionId);
  const results = events.flatMap((event) => (event.type === 'agent.tool_result' ? (event.content ?? []) : []));
  const errors = events.flatMap((event) => (event.type === 'session.error' ? [event.error] : []));
  return { text: results.map((block) => (block.type === 'text' ? block.text : '')).join(''), errors };
}

it.skipIf(noSandbox !== undefined || !has('npm') || !hasPip)(
  '[EG100, EG101, EG102] packages of pip and npm are installed through the proxy before the first command, once for all sessions, and without secrets',
  async () => {
    await withRegistry(async (test, registries) => {
      const auth = {
        type: 'environment_variable' as const,
        secret_name: 'API_KEY',
        secret_value: SECRET,
        networking: { type: 'unrestricted' as const },
      };
      const vault = await createVault(test.client, auth);
      const packages = { npm: ['greeter'], pip: ['sixish==1.0'] };
      const use = [
        'greet',
        'node -p \'require("greeter")\'',
        "python3 -c 'import sixish; print(sixish.name)'",
        'touch /fleetloom/packages/x 2>&1',
        'cat /fleetloom/packages/npm/node_modules/greeter/seen.json; echo; echo $API_KEY',
      ].join('; ');
      const id = await openSession(test, packages, [use], { vault_ids: [vault.id] });
      const { text, errors } = await runNext(test.client, id);
      expect(errors).toEqual([]);
      expect(text).toContain('hi by npm\nmodule by npm\nmodule by pip\n');
      expect(text).toContain('Read-only file system');
      const lines = text.split('\n');
      const placeholder = lines.at(-1)!;
      expect(placeholder).toMatch(/^flph_/);
      const seen = lines.find((line) => line.startsWith('{'))!;
      expect(seen).not.toContain(placeholder);
      expect(Object.keys(JSON.parse(seen) as object)).not.toContain('API_KEY');
      const asked = countSeen(registries);
      expect(registries.flatMap(({ seen: all }) => all.map(({ url }) => url))).toEqual(
        expect.arrayContaining(['/greeter', '/greeter.tgz', '/simple/sixish/']),
      );

      // Connections of the installation are in the log of the session, and nothing of it is left.
      const headers = { 'x-api-key': test.key };
      const log = await (await fetch(`${test.url}/v1/sessions/${id}/egress`, { headers })).text();
      expect(log).toContain(`"port":${registries[1]!.port}`);
      expect(readdirSync(join(test.directory, 'packages', '.drafts'))).toEqual([]);

      const { client } = await test.restart();
      const second = await openSession({ client }, packages, ['greet']);
      expect(await runNext(client, second)).toEqual({ text: 'hi by npm', errors: [] });
      expect(countSeen(registries)).toBe(asked);
    });
  },
);

it.skipIf(noSandbox !== undefined || !has('npm'))(
  '[EG103] a failed installation is one session.error with the manager and its last lines; the session goes on, and the next session tries again',
  async () => {
    await withRegistry(async (test, registries) => {
      const id = await openSession(test, { npm: ['missing-package'] }, ['echo on', 'echo further']);
      const first = await runNext(test.client, id);
      expect(first.text).toBe('on');
      expect(first.errors).toMatchObject([{ type: 'unknown_error', retry_status: { type: 'retrying' } }]);
      expect(first.errors[0]!.message).toMatch(/^packages of the environment: packages of npm could not be [\s\S]*404/);
      const asked = countSeen(registries);
      const { client } = await test.restart();
      expect(await runNext(client, id)).toEqual({ text: expect.stringMatching(/further$/), errors: [] });
      expect(countSeen(registries)).toBe(asked);
      const next = await openSession({ client }, { npm: ['missing-package'] }, ['echo on']);
      expect((await runNext(client, next)).errors).toHaveLength(1);
      expect(countSeen(registries)).toBeGreaterThan(asked);
    });
  },
);

it.skipIf(noSandbox !== undefined || has('go'))(
  '[EG104] a manager that is not on the machine is such a failure, and so is a network that the operator has closed',
  async () => {
    await withRegistry(async (test) => {
      const id = await openSession(test, { go: ['example.com/tool@latest'] }, ['echo on']);
      const { text, errors } = await runNext(test.client, id);
      expect(text).toBe('on');
      expect(errors[0]!.message).toContain('packages of go are not installed: go is not installed');
    });
    await withRegistry(
      async (test) => {
        const id = await openSession(test, { npm: ['greeter'] }, ['echo on'], { networking: { type: 'unrestricted' } });
        expect((await runNext(test.client, id)).errors[0]!.message).toContain('--bash-network none');
      },
      { bashNetwork: 'none' },
    );
  },
);

it('[EG107] a credential whose hosts the environment does not allow is one session.error for each session, also after a restart', async () => {
  await withServer(async (test) => {
    const toAuth = (name: string, allowed_hosts: string[]) => ({
      type: 'environment_variable' as const,
      secret_name: name,
      secret_value: SECRET,
      networking: { type: 'limited' as const, allowed_hosts },
    });
    const vault = await createVault(test.client, toAuth('FAR', ['api.example.com', '*.wide.example']));
    const near = toAuth('NEAR', ['api.wide.example']);
    await test.client.beta.vaults.credentials.create(vault.id, { auth: near });
    const networking = { type: 'limited', allowed_hosts: ['*.example.com', 'a.wide.example', 'api.wide.example'] };
    const id = await openSession(test, {}, ['true', 'true', 'true'], { vault_ids: [vault.id], networking });
    const { errors } = await runNext(test.client, id);
    expect(errors).toEqual([
      {
        type: 'credential_host_unreachable_error',
        credential_id: vault.credentials[0],
        vault_id: vault.id,
        retry_status: { type: 'retrying' },
        message: expect.stringMatching(/FAR: \*\.wide\.example$/),
      },
    ]);
    expect((await runNext(test.client, id)).errors).toEqual([]);
    const { client } = await test.restart();
    expect((await runNext(client, id)).errors).toEqual([]);
    const wide = { type: 'limited', allowed_hosts: ['*.example.com', '*.wide.example'] };
    const second = await openSession({ client }, {}, ['true'], { vault_ids: [vault.id], networking: wide });
    expect((await runNext(client, second)).errors).toEqual([]);
  });
});
