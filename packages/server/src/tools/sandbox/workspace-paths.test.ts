import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { noSandbox, openSandboxBench } from './sandbox.suite.ts';

it.skipIf(noSandbox !== undefined || !existsSync('/dev/shm'))(
  '[U157] a workspace below /dev is readable and writable in the sandbox, and the devices are not',
  async () => {
    const { sh, workspace } = openSandboxBench('/dev/shm');
    const { status, text } = await sh('echo hello > file && cat file && chmod 600 /dev/null; [ -w /dev ] && echo open');
    expect(readFileSync(join(workspace, 'file'), 'utf8')).toBe('hello\n');
    expect(text).toMatch(/^hello\n/);
    expect(text).not.toContain('open');
    expect(status).not.toBe(0);
  },
);
