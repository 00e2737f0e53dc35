import { afterAll, expect, it } from 'vitest';
import { MAIN } from '../packages/cli/test-support/processes.ts';
import { createFolder, runNode } from './command-runs.ts';

const folder = createFolder(MAIN);
afterAll(() => folder.remove());

it('[U411] the command that is measured runs its task to the end, and a failing one is not measured', async () => {
  expect(await runNode(folder.path, folder.command('The task.'))).toBe('The task.\n');
  expect(await runNode(folder.path, ['--eval', '0'])).toBe('');
  await expect(runNode(folder.path, ['--eval', 'process.exit(3)'])).rejects.toThrow('ended with 3');
});
