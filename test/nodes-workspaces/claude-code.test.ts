import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import { buildProgram } from '../../packages/cli/test-support/processes.ts';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { noSandbox } from '../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import type { Postgres } from '../../scripts/support/postgres.mjs';
import { bash } from '../claude-code/claude-server.ts';
import { runSql } from '../nodes/run-sql.ts';
import { toMessage } from '../nodes/work.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { ownPostgres } from '../support/postgres.ts';
import { createSession, readLog, reasonsOf, textsOf } from './node-session.ts';
import { openTwoNodes, type TwoNodes } from './open-nodes.ts';

const patience = { timeout: 60_000, interval: 100 };

await describeWithClaudeCode('sessions of the real program on two nodes', ({ path }) => {
  let postgres: Postgres;
  const sharedDirectories: string[] = [];
  const clusters: TwoNodes[] = [];
  beforeAll(async () => {
    buildProgram();
    postgres = await ownPostgres();
  }, 120_000);
  afterAll(async () => {
    await Promise.all(clusters.map((cluster) => cluster.close()));
    await Promise.all(sharedDirectories.map((path) => rm(path, { recursive: true, force: true })));
  });

  // A database and shared workspaces of its own for each attempt: a directory belongs to one database.
  const makeShared = async () => {
    const path = await mkdtemp(join(tmpdir(), 'fleetloom-homes-shared-'));
    sharedDirectories.push(path);
    return path;
  };

  const open = async (more: readonly string[]) => {
    const name = `nodes_${clusters.length}_${randomBytes(4).toString('hex')}`;
    runSql(postgres.url, `CREATE DATABASE ${name}`);
    const database = Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href;
    const args = [
      '--claude',
      path,
      '--programs',
      'default',
      ...(noSandbox === undefined ? [] : ['--unsandboxed-programs']),
      '--workspace-wait',
      // A node that restarts on a busy machine must be back within it.
      '20',
      ...more,
    ];
    const cluster = await openTwoNodes({ database, args });
    clusters.push(cluster);
    return cluster;
  };

  // Both at once: most of the time they wait until a node counts as gone. Each uses its own expect: the global one loses its
  // test as soon as one of them ends.
  it.concurrent.for([
    ['on the disk of its node', false],
    ['shared by all nodes', true],
  ] as const)(
    '[P85] a session with its workspace %s receives messages through the other node, continues its conversation after a restart, and ends with workspace_lost when its node is gone',
    { timeout: 180_000 },
    async ([, isShared], { expect }) => {
      const shared = await makeShared();
      const { one, two } = await open(isShared ? ['--shared-workspaces', shared] : []);
      const id = await createSession(one, 'claude-code/default');
      const say = (text: string) => two.caller.call('POST', `/v1/sessions/${id}/events`, toMessage(text));
      const log = () => readLog(two.caller, id);
      const texts = async () => textsOf(await log());
      const status = async () => (await two.caller.call<{ status: string }>('GET', `/v1/sessions/${id}`)).status;
      const workspace = join(isShared ? shared : join(one.data, 'workspaces'), id);
      const turns = script(
        [bash('echo kept > file.txt')],
        [{ say: 'First.' }],
        [{ say: 'Second.' }],
        [{ say: 'Third.' }],
        [bash('echo begun > begun.txt; tail -f /dev/null')],
        [{ say: 'Never.' }],
      );
      // Sent through the first node, which becomes the owner; then always through the second.
      await one.caller.call('POST', `/v1/sessions/${id}/events`, toMessage(`Go. ${turns}`));
      await expect.poll(texts, patience).toEqual(['First.']);
      expect(await readFile(join(workspace, 'file.txt'), 'utf8')).toBe('kept\n');
      await say('And now?');
      await expect.poll(texts, patience).toEqual(['First.', 'Second.']);
      // A turn ends a moment after its last text.
      await expect.poll(status, patience).toBe('idle');

      await one.kill();
      await one.start();
      await say('And after a restart?');
      // Only a program that remembers the first message knows the third answer.
      await expect.poll(texts, patience).toEqual(['First.', 'Second.', 'Third.']);
      expect(reasonsOf(await log())).toEqual([]);

      await say('Begin something long.');
      await expect.poll(() => existsSync(join(workspace, 'begun.txt')), patience).toBe(true);
      await one.kill();
      await expect.poll(async () => reasonsOf(await log()), patience).toEqual(['workspace_lost']);
      await expect.poll(status, patience).toBe('idle');

      // On the other node with a new workspace: its program knows neither the script nor the conversation.
      await say(`Begin again. ${script([bash('cat file.txt || echo empty')], [{ say: 'Again.' }])}`);
      await expect.poll(texts, patience).toEqual(['First.', 'Second.', 'Third.', 'Again.']);
      const results = (await log()).filter(({ type }) => type === 'agent.tool_result');
      expect(results.at(-1)?.payload.content?.[0]?.text).toContain(isShared ? 'kept' : 'empty');
      expect((await log()).filter(({ type }) => type === 'program.opened')).toHaveLength(2);
      expect(reasonsOf(await log())).toEqual(['workspace_lost']);
    },
  );
});
