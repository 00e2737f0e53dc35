import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// Loaded now, so that no time of a test goes into it.
import { listPrograms } from '@fleetloom/server';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { FakeIo } from '../../test-support/fake-io.ts';
import { begin, call, toLiveIo } from '../../test-support/live-io.ts';
import type { Finding } from '../doctor/finding.ts';
import { openServer } from '../run/open-server.ts';
import { type ProgramOptions, toClaudeCode, toOtherPrograms, withOwnPrograms } from './programs.ts';

const root = mkdtempSync(join(tmpdir(), 'fleetloom-programs-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
const newDirectory = () => join(root, String((count += 1)));

/** Runs a command that serves, and gives what it said and whether an agent on the program may be made. */
async function tryOut(args: string[], env: Record<string, string> = {}) {
  const data = newDirectory();
  const { fake, ended } = begin([...args, '--port', '0', '--data', data], { env });
  onTestFinished(async () => {
    fake.send('SIGTERM');
    await ended;
  });
  await expect.poll(() => fake.stdout.text, { timeout: 60_000 }).toMatch(/127\.0\.0\.1:\d+[\s\S]*\n$/);
  const text = fake.stdout.text;
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)![0];
  const key = /^ +key +(\S+)/im.exec(text)?.[1] ?? '';
  return { text, url, key, warnings: fake.stderr.text, data, ...(await makeAgent(url, key)) };
}

async function makeAgent(url: string, key: string | undefined, model = 'claude-code/default') {
  const response = await fetch(`${url}/v1/agents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ name: 'a', model }),
  });
  return { status: response.status, body: await response.text() };
}

describe('who may run programs', () => {
  it('[Y110] serve lets no workspace, unless --programs names it, with commas or from the configuration', async () => {
    const closed = await tryOut(['serve']);
    expect([closed.status, closed.body]).toEqual([403, expect.stringContaining('--programs default')]);
    expect(closed.text).not.toContain('Claude Code');
    const open = await tryOut(['serve', '--programs', 'team,default']);
    expect(open.status).toBe(200);
    expect(open.text).toContain(
      'programs  Claude Code, Codex and opencode for workspace team, default, in the sandbox\n',
    );
    const config = join(root, 'config.yaml');
    writeFileSync(config, 'serve: { programs: [default], unsandboxed-programs: true }');
    const configured = await tryOut(['serve'], { FLEETLOOM_CONFIG: config });
    expect(configured.status).toBe(200);
    expect(configured.text).toContain('WITHOUT a sandbox');
  }, 120_000);

  it('[Y115] serve and start print a warning on standard error with --unsandboxed-bash, and none without it', async () => {
    for (const command of [['serve'], ['start', '--no-demo', '--no-browser']]) {
      expect((await tryOut(command)).warnings).toBe('');
      const { warnings } = await tryOut([...command, '--unsandboxed-bash']);
      expect(warnings).toMatch(/^fleetloom: --unsandboxed-bash: .*agents run commands as your user.*\n$/);
    }
  }, 120_000);

  it('[Y111] start allows programs for the workspace of its user, with one line of output, and not with --no-programs', async () => {
    const open = await tryOut(['start', '--no-demo', '--no-browser']);
    expect(open.status).toBe(200);
    const lines = open.text.split('\n').filter((line) => line.includes('Claude Code'));
    expect(lines).toEqual([
      expect.stringMatching(
        /Programs +Claude Code, Codex and opencode for workspace default, in the sandbox +--no-programs/,
      ),
    ]);
    const closed = await tryOut(['start', '--no-demo', '--no-browser', '--no-programs']);
    expect([closed.status, closed.text.includes('Claude Code')]).toEqual([403, false]);
  }, 120_000);

  it('[Y111] if other machines can reach the server, start allows programs for no workspace on its own', () => {
    for (const host of [undefined, '127.0.0.1', '127.1.2.3', 'localhost', '::1']) {
      expect([host, withOwnPrograms<ProgramOptions>({}, host).programs]).toEqual([host, ['default']]);
    }
    for (const host of ['0.0.0.0', '::', '192.168.1.2', '127.0.0.1.example.com', 'example.com']) {
      expect([host, withOwnPrograms<ProgramOptions>({}, host).programs]).toEqual([host, undefined]);
    }
    expect(withOwnPrograms({ programs: ['team'] }, '0.0.0.0').programs).toEqual(['team']);
    expect(withOwnPrograms({ programs: false }, undefined).programs).toBe(false);
  });

  it('[Y112] a value that is not a name of a workspace or of a variable is wrong usage', async () => {
    expect(toClaudeCode({ programs: ['a, b', 'a'], programEnv: ['X,Y'] })).toMatchObject({
      workspaces: ['wrkspc_a', 'wrkspc_b'],
      passedVariables: ['X', 'Y'],
    });
    for (const [args, problem] of [
      [['--programs', 'a/b'], '"a/b" is not a valid workspace name'],
      [['--program-env', 'KEY=value'], '"KEY=value" is not a valid name of an environment variable'],
    ] as const) {
      const { code, stderr } = await call(['serve', '--port', '0', '--data', newDirectory(), ...args]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
    }
  });

  it('[Y114] the server that run starts for itself lets its user', async () => {
    const server = await openServer(toLiveIo(new FakeIo({ input: '', env: {} })), {});
    onTestFinished(async () => void (await server.close()));
    const { url, key } = server.connection;
    expect((await makeAgent(url, key)).status).toBe(200);
  });

  it('[Y212] serve --programs, start and run allow every registered program engine, not only those known by name', async () => {
    const run = await openServer(toLiveIo(new FakeIo({ input: '', env: {} })), {});
    onTestFinished(async () => void (await run.close()));
    const servers = [
      await tryOut(['serve', '--programs', 'default']),
      await tryOut(['start', '--no-demo', '--no-browser']),
      run.connection,
    ];
    const names = listPrograms().map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['claude-code', 'codex', 'opencode']));
    for (const { url, key } of servers) {
      for (const name of names) {
        expect([name, (await makeAgent(url, key ?? '', `${name}/default`)).status]).toEqual([name, 200]);
      }
    }
    const choices = toOtherPrograms({ programs: ['default'] }, [...listPrograms(), { name: 'registered' }]);
    expect(choices).toMatchObject({ registered: { workspaces: ['wrkspc_default'] } });
  }, 120_000);

  it('[Y113] doctor shows which workspaces may run programs, where they run, and their variables', async () => {
    const { data } = await tryOut(['serve', '--programs', 'default']);
    const look = async (...args: string[]) => {
      const { stdout } = await call(['doctor', '--json', '--data', data, '--url', 'http://127.0.0.1:1', ...args]);
      const findings = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Finding);
      return findings.filter(({ name }) => name === 'Programs').map(({ state, text }) => `${state} ${text}`);
    };
    const [first, second, ...others] = await look();
    expect(first).toMatch(
      /^note "start" allows programs for workspace default, "serve" for none; the last server here allowed default$/,
    );
    expect([second, others]).toEqual([
      expect.stringMatching(/^(ok programs run in the sandbox|note .* are rejected)/),
      [],
    ]);
    const named = await look('--programs', 'team', '--unsandboxed-programs', '--program-env', 'AWS_PROFILE');
    expect(named).toEqual([
      expect.stringMatching(/^ok workspaces that may use claude-code\/…, codex\/…, opencode\/… and acp:…: team/),
      expect.stringMatching(/^note programs run without a sandbox/),
      expect.stringMatching(/^note .* can read AWS_PROFILE$/),
    ]);
  }, 120_000);
});
