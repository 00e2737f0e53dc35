import { expect, it } from 'vitest';
import { startProcess } from './start-process.ts';

it('[D22] a program that cannot be started is an error of its caller, whether Node throws it or emits it', async () => {
  const missing = await new Promise<Error>((resolve) => startProcess('/nowhere/program', [], {}, resolve));
  expect(missing).toMatchObject({ code: 'ENOENT' });
  const errors: Error[] = [];
  expect(startProcess('/bin/sh', ['-c', 'x\0y'], {}, (error) => errors.push(error))).toBeUndefined();
  expect(errors).toHaveLength(1);
});

it('[D22] writing to a program that has ended harms nothing', async () => {
  const errors: Error[] = [];
  const child = startProcess('/bin/sh', ['-c', 'exec 0<&-; exit 3'], {}, (error) => errors.push(error))!;
  const code = new Promise((resolve) => child.on('close', resolve));
  for (let count = 0; count < 50; count++) {
    child.stdin?.write('x'.repeat(65_536));
    await new Promise((resolve) => setImmediate(resolve));
  }
  child.stdin?.destroy();
  expect(await code).toBe(3);
  expect(errors).toEqual([]);
});
