import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Packages } from '@fleetloom/protocol/managed-agents';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { SandboxState } from '../sandbox/sandbox.ts';
import { type InstallNetwork, createPackagePrefixes } from './package-prefixes.ts';
import { listManagers } from './package-commands.ts';

const hasNpm = listManagers().some(({ manager, path }) => manager === 'npm' && path !== undefined);
const none: Packages = { type: 'packages', apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] };
const wanted: Packages = { ...none, npm: ['greeter'] };

/** Prefixes whose installations are this program instead of a manager. */
async function openPrefixes(program: string, timeoutMs?: number) {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-prefixes-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, '.drafts', 'build-old'), { recursive: true });
  writeFileSync(join(directory, '.drafts', 'build-old', 'half'), '');
  const launches: string[] = [];
  const state: SandboxState = {
    type: 'ready',
    gaps: [],
    sandbox: {
      launch: ({ workspace }) => {
        launches.push(workspace);
        return { file: '/bin/sh', args: ['-c', program], env: { PATH: '/usr/bin:/bin' }, data: [] };
      },
    },
  };
  const prefixes = await createPackagePrefixes({ directory, openSandbox: async () => state, timeoutMs });
  return { prefixes, directory, launches };
}

const network: InstallNetwork = {
  open: async () => ({
    socketPath: '/s',
    port: 1,
    readOnlyPaths: [],
    environment: {},
    trust: { readOnlyPaths: [], environment: {} },
  }),
  close: async () => {},
};

it.skipIf(!hasNpm)(
  '[EG101] sessions that begin at the same time share one build, and what a crash has left is removed',
  async () => {
    const { prefixes, directory, launches } = await openPrefixes('sleep 0.2; echo x > prefix/made');
    expect(readdirSync(directory)).toEqual([]);
    const all = await Promise.all(Array.from({ length: 8 }, () => prefixes.install(wanted, network)));
    expect(all).toEqual(Array.from({ length: 8 }, () => undefined));
    expect(launches).toHaveLength(1);
    const found = (await prefixes.find(wanted))!;
    expect(existsSync(join(found.readOnlyPaths[0]!.path, 'made'))).toBe(true);
    expect(await prefixes.find({ ...wanted, npm: ['other'] })).toBeUndefined();
    await prefixes.close();
  },
);

it.skipIf(!hasNpm)(
  '[EG102, EG103] an installation that takes too long or fails leaves nothing, and a registry with a password is refused',
  async () => {
    const slow = await openPrefixes('sleep 60', 300);
    expect(await slow.prefixes.install(wanted, network)).toBe('packages of npm were not installed within 0.3 s');
    expect(readdirSync(join(slow.directory, '.drafts'))).toEqual([]);
    const failing = await openPrefixes('seq 1 20; exit 3');
    const lines = Array.from({ length: 8 }, (_, index) => String(13 + index)).join('\n');
    expect(await failing.prefixes.install(wanted, network)).toBe(`packages of npm could not be installed:\n${lines}`);
    expect(await failing.prefixes.find(wanted)).toBeUndefined();
    vi.stubEnv('PIP_INDEX_URL', 'https://user:word@index.example/simple');
    onTestFinished(() => void vi.unstubAllEnvs());
    const refused = await failing.prefixes.install(wanted, network);
    expect(refused).toContain('PIP_INDEX_URL has a user name or password');
    expect(refused).not.toContain('word@');
  },
);
