import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildProgram } from '../../support/build-program.ts';
import { repositoryRoot } from '../../support/root.ts';
import { changesOf, refusalOf } from './changes.suite.ts';
import { type Host, startHost } from './snapshots-kills.suite.ts';
import { createRecorded, framesOf, waitIdle } from './snapshots.suite.ts';
import { connect } from '../server.suite.ts';
import { type UserRepository, withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';

// Within the repository, because what is not bundled is found from there.
const codeFolder = join(repositoryRoot, '.cache', `recovered-changes-${process.pid}`);
afterAll(() => rmSync(codeFolder, { recursive: true, force: true }));
beforeAll(async () => {
  const host = fileURLToPath(new URL('./snapshots-host.suite.ts', import.meta.url));
  await buildProgram(codeFolder, { host });
}, 60_000);

const COMMAND = 'echo agent > agent.txt; sleep 30';
const SCRIPT = [[{ call: 'bash', input: { command: COMMAND } }], [{ say: 'done' }], [{ say: 'done' }]];

it(
  '[WS441] files that the user changed after a crash are not changes of the interrupted call, and a restore does not delete them',
  () =>
    withKilled(async ({ test, id, user }) => {
      const found = (await framesOf(test, id)).filter((frame) => frame.type === 'workspace.changed');
      expect(found).toMatchObject([
        {
          payload: {
            cause: 'recovered',
            tool_use_id: null,
            candidates: [{ tool_use_id: expect.any(String) }],
            files: [{ path: 'README.md' }, { path: 'agent.txt' }, { path: 'mine.txt' }],
          },
        },
      ]);
      const changes = changesOf(test, id);
      const refusal = await refusalOf(changes.restore({ at: 'start' }));
      expect(refusal).toMatchObject({ status: 409, code: 'restore_conflict', details: { files_count: 3 } });
      expect(refusal.message).toContain('README.md, agent.txt, mine.txt');
      expect(await readFile(join(user.path, 'mine.txt'), 'utf8')).toBe('mine\n');
      const restored = await changes.restore({ at: 'start', overwrite: true });
      expect(restored.overwritten).toEqual(['README.md', 'agent.txt', 'mine.txt']);
      expect(existsSync(join(user.path, 'mine.txt'))).toBe(false);
      await changes.restore({ at: restored.before.cursor });
      expect(await readFile(join(user.path, 'mine.txt'), 'utf8')).toBe('mine\n');
    }),
  60_000,
);

interface KilledSession {
  readonly test: { readonly url: string; readonly key: string };
  readonly id: string;
  readonly user: UserRepository;
}

/** Runs with a session in place whose server was killed during a call, and started again after the user had changed files. */
async function withKilled(run: (session: KilledSession) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-recovered-'));
  let host: Host | undefined;
  try {
    await withRepository(async (user) => {
      host = await startHost(codeFolder, directory, user.root);
      const client = connect(host.url);
      const id = await createRecorded({ client }, SCRIPT, { path: user.path, mode: 'in_place' });
      const content = [{ type: 'text' as const, text: 'Go.' }];
      await client.beta.sessions.events.send(id, { events: [{ type: 'user.message', content }] });
      await expect.poll(() => existsSync(join(user.path, 'agent.txt')), { timeout: 20_000 }).toBe(true);
      await host.kill();
      await writeFile(join(user.path, 'README.md'), 'mine\n');
      await writeFile(join(user.path, 'mine.txt'), 'mine\n');
      host = await startHost(codeFolder, directory, user.root);
      await waitIdle({ client: connect(host.url) }, id);
      await run({ test: { url: host.url, key: 'any' }, id, user });
    });
  } finally {
    await host?.kill();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
