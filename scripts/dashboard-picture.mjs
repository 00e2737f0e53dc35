// Takes docs/dashboard.png: the first minute of the test that follows a new user through the dashboard.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setUp } from './setup.mjs';
import { repositoryRoot } from './support/root.mjs';
import { run } from './support/run.mjs';

await setUp({ build: true });
const shots = mkdtempSync(join(tmpdir(), 'fleetloom-shots-'));
try {
  const env = { ...process.env, FLEETLOOM_SHOTS: shots };
  const args = ['vitest', 'run', 'test/browser/dashboard/review.test.ts'];
  const { code, output } = await run('npx', args, { cwd: repositoryRoot, env });
  if (code !== 0) throw new Error(`the test failed, so there is no picture:\n${output}`);
  copyFileSync(join(shots, 'first-minute-dark.png'), join(repositoryRoot, 'docs', 'dashboard.png'));
  console.error('wrote docs/dashboard.png');
} finally {
  rmSync(shots, { recursive: true, force: true });
}
