import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toInside } from './session-paths.ts';
import { noSandbox, openBench } from '../toolbox.suite.ts';

it('[W36] tools that work on files know the workspace and the files of the session by the same names in every session', async () => {
  const { run, put, workspace } = openBench();
  put('here.txt', 'in the workspace');
  expect((await run('read', { file_path: '/workspace/here.txt' })).text).toContain('in the workspace');
  await run('write', { file_path: '/mnt/session/outputs/a/b.txt', content: 'put out' });
  expect(readFileSync(join(workspace, '.fleetloom/session/outputs/a/b.txt'), 'utf8')).toBe('put out');
  expect((await run('glob', { pattern: '**/*.txt', path: '/mnt/session' })).text).toContain('b.txt');
  expect((await run('glob', { pattern: '**/*.txt' })).text).not.toContain('b.txt');
  for (const file_path of ['/workspace/../etc/passwd', '/mnt/session/../../etc/passwd', '/workspaces/x', '/mnt/x']) {
    expect(await run('read', { file_path })).toMatchObject({ isError: true });
  }
});

it.skipIf(noSandbox !== undefined)('[W36] programs in the sandbox know them by these names too', async () => {
  const { run, put, workspace } = openBench();
  put('here.txt', 'in the workspace');
  put('.fleetloom/session/uploads/x.txt', ' and mounted');
  const command = 'cat /workspace/here.txt /mnt/session/uploads/x.txt; echo out > /mnt/session/uploads/y.txt';
  expect((await run('bash', { command })).text).toBe('in the workspace and mounted');
  expect(readFileSync(join(workspace, '.fleetloom/session/uploads/y.txt'), 'utf8')).toBe('out\n');
});

it('[W36] a path that leads outside is not a session path', () => {
  expect(toInside('/workspace')).toBe('');
  expect(toInside('/workspace/a/../b')).toBe('b');
  expect(toInside('/mnt/session/x')).toBe('.fleetloom/session/x');
  for (const path of ['/workspace/../x', '/mnt/session/../y', '/workspaces', '/mnt', 'workspace/a']) {
    expect(toInside(path)).toBeUndefined();
  }
});
