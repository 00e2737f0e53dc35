import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runProgram } from './run-program.ts';

const bounds = { timeoutMs: 10_000, outputBytesMax: 1_000 };

it('[D24] a short program gives its exit code and both outputs', async () => {
  expect(await runProgram('/bin/sh', ['-c', 'echo out; echo err >&2; exit 3'], bounds)).toEqual({
    code: 3,
    stdout: 'out\n',
    stderr: 'err\n',
    isCut: false,
  });
});

it('[D24] a program that writes too much or takes too long is killed, and one that is missing rejects', async () => {
  const { code, stdout, isCut } = await runProgram('/bin/sh', ['-c', 'yes; true'], bounds);
  expect([code, stdout, isCut]).toEqual([null, 'y\n'.repeat(500), true]);
  const { code: fitting } = await runProgram('/bin/sh', ['-c', 'head -c 1000 /dev/zero'], bounds);
  expect(fitting).toBe(0);
  expect((await runProgram('/bin/sh', ['-c', 'sleep 100; true'], { ...bounds, timeoutMs: 100 })).code).toBe(null);
  await expect(runProgram('/nowhere', [], bounds)).rejects.toThrow('ENOENT');
});

it.runIf(process.platform === 'linux')('[D24] programs that cannot be started leave no descriptor open', async () => {
  const countOpen = () => readdirSync('/proc/self/fd').length;
  await expect(runProgram('/nowhere', [], bounds)).rejects.toThrow('ENOENT');
  const before = countOpen();
  for (let count = 0; count < 20; count++) await expect(runProgram('/nowhere', [], bounds)).rejects.toThrow('ENOENT');
  await expect.poll(countOpen).toBeLessThan(before + 10);
});
