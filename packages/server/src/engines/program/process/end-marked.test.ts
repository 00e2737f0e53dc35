import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { programLimits } from '../limits.ts';
import { endMarked, MARK } from './end-marked.ts';

const isLinux = process.platform === 'linux';

/** A process that takes a moment to die, since the system has to free its memory. */
async function startLarge(mark: string): Promise<number> {
  const code = `globalThis.kept = Buffer.alloc(200 * 1024 * 1024, 1); console.log('up'); setInterval(() => {}, 1000)`;
  const env = { ...process.env, [MARK]: mark };
  const child = spawn(process.execPath, ['-e', code], { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  return child.pid!;
}

/** The environment of a process that has ended, or is a zombie, is empty or cannot be read. */
function hasMemory(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`).length > 0;
  } catch {
    return false;
  }
}

it.runIf(isLinux)('[J14] processes with the mark are gone when their end is reported, and others live on', async () => {
  const marked = await Promise.all([startLarge('one'), startLarge('one'), startLarge('one')]);
  const other = await startLarge('two');
  expect(await endMarked('one')).toBe(3);
  expect(marked.filter(hasMemory)).toEqual([]);
  expect(hasMemory(other)).toBe(true);
  expect(await endMarked('two')).toBe(1);
  expect(await endMarked('two')).toBe(0);
  expect(programLimits.programDeathMs).toBe(10_000);
});
