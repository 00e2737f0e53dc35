import { expect, it } from 'vitest';
import { findProgram } from '../../find-program.ts';
import { openBubblewrap } from '../../sandbox/bubblewrap.ts';
import { openBench } from '../../toolbox.suite.ts';

const hasSandbox = (await openBubblewrap({ findProgram })).type === 'ready';
const REMARK = '(The last shell is gone, with its directory, variables and background processes';

it('[U127] the output of the command after an interrupted one states that its shell is new, and that of the next one does not', async () => {
  const { run } = openBench({ allowUnsandboxedBash: true });
  expect((await run('bash', { command: 'cd /tmp; A=1; echo begun' })).text).toBe('begun');
  const stop = new AbortController();
  const stopped = run('bash', { command: 'sleep 100' }, { signal: stop.signal });
  setTimeout(() => stop.abort(), 300);
  await stopped;
  const next = (await run('bash', { command: 'echo "[$A]"' })).text;
  expect(next.startsWith(REMARK)).toBe(true);
  expect(next.endsWith('[]')).toBe(true);
  expect((await run('bash', { command: 'echo again' })).text).toBe('again');
});

it.skipIf(!hasSandbox)('[U128] /workspace is the workspace and not a link to it', async () => {
  const { run, put } = openBench();
  put('a/b.txt', 'text');
  expect(
    (await run('bash', { command: 'find /workspace -type f; cp -r /workspace /tmp/copy; cat /tmp/copy/a/b.txt' })).text,
  ).toBe('/workspace/a/b.txt\ntext');
  await run('bash', { command: 'echo new > /workspace/new' });
  expect((await run('read', { file_path: 'new' })).text).toBe('new\n');
});
