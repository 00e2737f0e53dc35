import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { type TestServer, withServer } from '../server.suite.ts';

it('[H130] a deleted session with directories nested 2,500 deep leaves nothing, and a start finishes what a crash has left', async () => {
  await withServer(async (test) => {
    const workspaces = join(test.directory, 'workspaces');
    const session = await createSession(test);
    nest(join(workspaces, session), 2_500);
    await test.client.beta.sessions.delete(session);
    await vi.waitFor(() => expect(readdirSync(workspaces)).toEqual([]), PATIENCE);
    // As a process leaves it that was killed between the rename and the end of the removal.
    await test.server.close();
    for (const parent of ['workspaces', 'program-homes']) {
      nest(join(test.directory, parent, '.trash', 'sesn_gone.a1B2c3', 'tree'), 10);
    }
    const later = await test.restart();
    for (const parent of ['workspaces', 'program-homes']) {
      const trash = join(later.directory, parent, '.trash');
      await vi.waitFor(() => expect(existsSync(trash)).toBe(false), PATIENCE);
    }
    // Only for a run that fails: what Node cannot remove would fail the end of the test instead of the line above.
    spawnSync('rm', ['-rf', workspaces]);
  });
}, 180_000);

/** A disk that other tests write to as well takes its time for thousands of directories. */
const PATIENCE = { timeout: 60_000, interval: 50 };

async function createSession({ client }: TestServer): Promise<string> {
  const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
  const environment = await client.beta.environments.create({ name: 'here' });
  return (await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id })).id;
}

/** From the inside out: the path of the innermost directory is longer than the system allows. */
function nest(directory: string, depth: number): void {
  mkdirSync(directory, { recursive: true });
  const [one, other] = [join(directory, 'd'), join(directory, 'outer')];
  mkdirSync(one);
  writeFileSync(join(one, 'secret'), '');
  for (let level = 1; level < depth; level++) {
    mkdirSync(other);
    renameSync(one, join(other, 'd'));
    renameSync(other, one);
  }
}
