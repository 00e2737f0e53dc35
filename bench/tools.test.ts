import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  addFiles,
  type BenchWorkspace,
  createWorkspace,
  listByRipgrep,
  openInProcess,
  openSession,
} from './tools-session.ts';
import { findHosts, hasRipgrep } from '../packages/server/src/tools/toolbox.suite.ts';

let workspace: BenchWorkspace;
beforeAll(() => {
  workspace = createWorkspace();
});
afterAll(() => workspace.remove());

describe('what the bench of the tools measures', () => {
  it('[B11] the host and this process read the same 4 KiB', async () => {
    const session = await openSession(workspace);
    expect(workspace.text).toHaveLength(4_096);
    expect(await session.read()).toBe(workspace.text);
    expect(await openInProcess(workspace).read()).toBe(workspace.text);
    await session.close();
  });

  it('[B12] a session has no host before its first read, and the read in this process starts none', async () => {
    const session = await openSession(workspace);
    await openInProcess(workspace).read();
    expect(findHosts(workspace.path)).toEqual([]);
    await session.read();
    expect(findHosts(workspace.path)).toHaveLength(1);
    expect(await session.bash('echo out')).toBe('out');
    await session.close();
    expect(findHosts(workspace.path)).toEqual([]);
  });

  it('[B13] a failed command is an error, not a measurement', async () => {
    const session = await openSession(workspace);
    await expect(session.bash('exit 3')).rejects.toThrow('Exit code 3');
    await session.close();
  });

  it.skipIf(!hasRipgrep)('[U408] a search by name and ripgrep see the same files', async () => {
    const large = createWorkspace();
    addFiles(large, 300);
    const session = await openSession(large);
    const listed = (await listByRipgrep(large)).filter((path) => path.startsWith('packages/'));
    expect(listed).toHaveLength(300);
    const found = (await session.glob('packages/**/*.ts')).split('\n');
    expect(found.slice(0, -1).every((path) => listed.includes(path))).toBe(true);
    expect(found).toHaveLength(201);
    expect(found.at(-1)).toBe('(100 older files are left out: use a narrower pattern)');
    await session.close();
    large.remove();
  });
});
