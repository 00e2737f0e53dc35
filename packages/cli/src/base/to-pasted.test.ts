import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toPasted } from './to-pasted.ts';

const text =
  'Run "fleetloom watch", not fleetloom.db, /x/fleetloom run or npx fleetloom run. fleetloom <command> --help';
const pasted =
  'Run "npx fleetloom watch", not fleetloom.db, /x/fleetloom run or npx fleetloom run. npx fleetloom <command> --help';

it('[Y186] commands in messages begin with npx unless fleetloom is on PATH, and always when npm has started the program', () => {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-path-'));
  try {
    expect(toPasted({ env: { PATH: '' }, platform: 'linux' }, text)).toBe(pasted);
    expect(toPasted({ env: { PATH: directory }, platform: 'linux' }, text)).toBe(pasted);
    writeFileSync(join(directory, 'fleetloom'), '');
    // A file that cannot be executed is not a command.
    chmodSync(join(directory, 'fleetloom'), 0o644);
    expect(toPasted({ env: { PATH: directory }, platform: 'linux' }, text)).toBe(pasted);
    chmodSync(join(directory, 'fleetloom'), 0o755);
    expect(toPasted({ env: { PATH: `/nowhere:${directory}` }, platform: 'linux' }, text)).toBe(text);
    const env = { PATH: directory, npm_config_user_agent: 'npm/11' };
    expect(toPasted({ env, platform: 'linux' }, text)).toBe(pasted);
    expect(toPasted({ env, platform: 'linux' }, 'nothing to replace')).toBe('nothing to replace');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
