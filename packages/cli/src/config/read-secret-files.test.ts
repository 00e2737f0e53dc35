import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readSecretFiles, SECRET_VARIABLES } from './read-secret-files.ts';

it('[P133] each variable with a secret may be in a file that its name with _FILE names; both, an empty and a missing file are wrong usage', () => {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-secrets-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'secret');
  writeFileSync(path, 'from a file\n');
  for (const name of SECRET_VARIABLES) {
    const file = { [`${name}_FILE`]: path };
    expect(readSecretFiles({ PATH: '/bin', ...file })).toEqual({ PATH: '/bin', ...file, [name]: 'from a file' });
    expect(() => readSecretFiles({ ...file, [name]: 'x' })).toThrow(`${name} and ${name}_FILE are both set.`);
  }
  expect(SECRET_VARIABLES).toEqual(expect.arrayContaining(['FLEETLOOM_MASTER_KEY', 'FLEETLOOM_MASTER_KEY_OLD']));
  const env = { FLEETLOOM_SECRET: 'x', ANTHROPIC_API_KEY_FILE: '' };
  expect(readSecretFiles(env)).toBe(env);
  expect(() => readSecretFiles({ FLEETLOOM_SECRET_FILE: join(directory, 'none') })).toThrow('cannot be read: ENOENT');
  writeFileSync(path, '\n');
  expect(() => readSecretFiles({ FLEETLOOM_SECRET_FILE: path })).toThrow('is empty');
});
