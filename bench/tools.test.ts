import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BenchWorkspace, createWorkspace, openInProcess, openSession } from './tools-session.ts';
import { findHosts } from '../packages/server/src/tools/toolbox.suite.ts';

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
});
