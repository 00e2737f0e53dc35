import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryHome } from '../support/claude-code.ts';
import { describeWithProgram } from '../support/programs.ts';

for (const name of ['claude-code', 'codex', 'opencode'] as const) {
  describeWithProgram(name, 'the installed program', ({ path, version }) => {
    it('[J125] runs without its package manager and prints its version', async () => {
      const home = await temporaryHome();
      // Codex warns about a home directory below the one for temporary files.
      const env = { PATH: process.env['PATH'], HOME: home, TMPDIR: join(home, 'tmp') };
      expect(execFileSync(path, ['--version'], { env, encoding: 'utf8' }).split(/\s+/)).toContain(version);
    });
  });
}
