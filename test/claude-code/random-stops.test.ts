import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { isLong, randomText, timeout } from '../support/seed.ts';
import { bash, type ClaudeServer, delegate, toChoice, toolset, withClaudeServer } from './claude-server.ts';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { findProcesses } from './processes.ts';

/** As many runs as issue and patience allow: each starts a program of 200 MB. */
const RUNS = isLong ? 100 : 10;
const AT_ONCE = 3;

await describeWithClaudeCode('random stops of the real program', ({ path }) => {
  it(
    `[J95, J341] ${RUNS} runs with random interrupts and kills leave no process and, once deleted, no file behind, and every session becomes idle`,
    async () => {
      const random = randomText();
      const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)]!;
      const plans = Array.from({ length: RUNS }, () => ({
        work: pick([alone, together, inBackground, asking]),
        stops: Array.from({ length: 1 + Math.floor(random.next() * 2) }, () => ({
          afterMs: Math.floor(random.next() * 4_000),
          what: pick(['interrupt', 'interrupt', 'kill', 'say'] as const),
        })),
      }));
      const temporary = await mkdtemp(join(tmpdir(), 'fleetloom-claude-tmp-'));
      onTestFinished(() => rm(temporary, { recursive: true, force: true }));
      const choice = await toChoice(path);
      const claudeCode = { ...choice, environment: { ...choice.environment, TMPDIR: temporary } };
      const work = async (server: ClaudeServer) => {
        const sessions: string[] = [];
        await severalAtOnce(plans, async ({ work, stops }) => {
          const session = await server.createSession({
            roster: [{ name: 'worker' }, { name: 'asker', tools: [toolset('always_ask')] }],
          });
          sessions.push(session);
          await server.say(session, `Go. ${work()}`);
          for (const { afterMs, what } of stops) {
            await sleep(afterMs);
            await stop(server, session, what);
          }
        });
        for (const session of sessions) {
          const rest = async () => {
            const { status } = await server.client.beta.sessions.retrieve(session);
            if (status === 'idle') return;
            await server.send(session, { type: 'user.interrupt' });
            throw new Error(`${session} is ${status}`);
          };
          await vi.waitFor(rest, { timeout: 120_000, interval: 1_000 });
          expect((await server.log(session)).problems).toEqual([]);
          await server.client.beta.sessions.archive(session);
        }
        expect(findProcesses(server.directory)).toEqual([]);
        expect(await server.programs()).toEqual([]);
        for (const session of sessions) await server.client.beta.sessions.delete(session);
        await vi.waitFor(async () => expect(await leftFiles(server.directory)).toEqual([]), { timeout: 60_000 });
        // The program makes this directory for its user when it is asked for its version.
        const left = (await readdir(temporary, { recursive: true })).filter((name) => !/^claude-\d+$/.test(name));
        expect(left).toEqual([]);
      };
      await withClaudeServer(path, work, { claudeCode });
    },
    Math.max(timeout, 300_000),
  );
});

/** What there is of sessions below the data directory, apart from the database. Deleted directories are removed in the background. */
async function leftFiles(directory: string): Promise<string[]> {
  const folders = ['program-homes', 'programs', 'program-conversations', 'workspaces'];
  const names = await Promise.all(
    folders.map((folder) => readdir(join(directory, folder), { recursive: true }).catch(() => [])),
  );
  return names.flat().filter((name) => name !== '.trash');
}

/** The next one begins when any has ended: most of the time all of them wait for their next stop. */
async function severalAtOnce<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  const lane = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function stop(server: ClaudeServer, session: string, what: 'interrupt' | 'kill' | 'say'): Promise<void> {
  if (what === 'interrupt') return server.send(session, { type: 'user.interrupt' });
  if (what === 'say') return server.say(session, 'And something else.');
  const [pid] = await server.programs();
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The program has ended on its own in the meantime.
  }
}

const slowly = { say: 'One two three four five.', chunks: 5, every_ms: 100 };

function alone(): string {
  return script([slowly, bash('tail -f /dev/null')], [slowly]);
}

function together(): string {
  const child = script([slowly, bash('tail -f /dev/null')], [slowly]);
  return script([delegate('worker', 'one', child), delegate('worker', 'two', script([slowly]))], [slowly]);
}

function inBackground(): string {
  const prompt = `Look. ${script([slowly, bash('tail -f /dev/null')], [slowly])}`;
  const input = { subagent_type: 'worker', description: 'look', prompt, run_in_background: true };
  return script([{ call: 'Agent', input }], [slowly]);
}

function asking(): string {
  return script([delegate('asker', 'one', script([slowly, bash('touch it')], [slowly]))], [slowly]);
}
