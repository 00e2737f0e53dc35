import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { findCodex } from './find-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetloom-codex-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function writeProgram(name: string, output: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\necho '${output}'\n`);
  chmodSync(path, 0o755);
  return path;
}

it('[CX27] the program is found by its path or on PATH, with its version', async () => {
  const path = writeProgram('codex', 'codex-cli 0.166.0');
  const found = { type: 'found', program: { path, version: '0.166.0' } };
  expect(await findCodex({ program: path })).toEqual(found);
  expect(await findCodex({ environment: { PATH: folder } })).toEqual(found);
});

it('[CX27] one that is missing, too old, or another program says so, and what to do', async () => {
  const problemOf = async (program: string) => {
    const found = await findCodex({ program, environment: { PATH: folder } });
    return found.type === 'problem' ? [found.problem.reason, found.problem.advice] : found;
  };
  expect(await problemOf('codex-none')).toEqual(['not_found', expect.stringContaining('npm install -g @openai/codex')]);
  expect(await problemOf(writeProgram('old', 'codex-cli 0.165.9'))).toEqual([
    'too_old',
    expect.stringContaining('@openai/codex@latest'),
  ]);
  expect(await problemOf(writeProgram('other', 'something 1.0.0'))).toEqual([
    'not_codex',
    expect.stringContaining('--codex'),
  ]);
});
