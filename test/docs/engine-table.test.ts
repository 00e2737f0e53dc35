import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('[CX41] the table of docs/engines.md is what the engines say of themselves', () => {
  const root = new URL('../../', import.meta.url);
  const output = execFileSync(process.execPath, ['scripts/engine-table.mjs', '--check'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(output).toBe('');
});
