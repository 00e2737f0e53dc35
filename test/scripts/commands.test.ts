import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot } from '../support/root.ts';
import { runLines, runNode, withScripts } from './temporary-tree.ts';

const exitLikeChild = (source: string) =>
  `import { run, exitLike } from '$scripts/support/run.mjs';
   exitLike(await run(process.execPath, ['-e', ${JSON.stringify(source)}], { inherit: true }));`;

it('[G7] a command ends with the exit code of the program it ran', async () => {
  const ending = await runLines(exitLikeChild("console.log('from the program'); process.exit(7)"));
  expect(ending).toEqual({ code: 7, stdout: 'from the program\n', stderr: '' });
});

it.each(['SIGTERM', 'SIGINT'] as const)('[G7] %s is forwarded to the program, which may handle it', async (signal) => {
  const ending = await interrupt(
    signal,
    `process.on('${signal}', () => process.exit(5)); setInterval(() => {}, 1000);`,
  );
  expect(ending).toEqual([5, null]);
});

it('[G7] a command whose program was killed by a signal ends with the same signal', async () => {
  expect(await interrupt('SIGTERM', 'setInterval(() => {}, 1000);')).toEqual([null, 'SIGTERM']);
});

it('[G8] the last line counts what passed, failed and was skipped, and a file that cannot be loaded failed', async () => {
  const whole = { status: 'passed', assertionResults: [{}] };
  const unloaded = { status: 'failed', assertionResults: [] };
  const counts = { numPassedTests: 12, numFailedTests: 1, numPendingTests: 0, numTodoTests: 0 };
  const reports = [
    { ...counts, testResults: [whole] },
    { ...counts, testResults: [whole, unloaded], numPendingTests: 2, numTodoTests: 1 },
  ];
  const ending = await runLines(
    `import { countTests } from '$scripts/support/count-tests.mjs';
     for (const report of ${JSON.stringify(reports)}) console.log(countTests(report));`,
  );
  expect(ending.stdout).toBe('12 passed, 1 failed\n12 passed, 2 failed, 3 skipped\n');
});

it('[G9] without a browser a message states what to do', async () => {
  const ending = await runLines(
    "import { ensureChromium } from '$scripts/support/chromium.mjs'; console.log(await ensureChromium());",
    { FLEETLOOM_CHROMIUM: '/nowhere/chromium' },
  );
  expect(ending).toMatchObject({ code: 0, stdout: 'undefined\n' });
  expect(ending.stderr).toContain('NO BROWSER WAS FOUND');
  expect(ending.stderr).toContain('npm test -- --no-browser');
});

it('[G60] --exclude leaves out the tests with browsers and with engines, in whichever project they are', async () => {
  const leftOut = ['browser', 'engines'].flatMap((name) => ['--exclude', `test/${name}/**`]);
  const vitest = join(repositoryRoot, 'node_modules/vitest/vitest.mjs');
  const ending = await runNode([vitest, 'list', '--filesOnly', '--json', ...leftOut, 'test/browser', 'test/engines']);
  expect(ending).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\[\]\s*$/) });
}, 120_000);

/** Sends the signal to the command only, once its program says that it is ready. */
async function interrupt(signal: NodeJS.Signals, source: string): Promise<unknown[]> {
  const lines = withScripts(exitLikeChild(`${source} console.log('ready');`));
  const command = spawn(process.execPath, ['--input-type=module', '-e', lines], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(command.stdout, 'data');
  command.kill(signal);
  return once(command, 'close');
}
