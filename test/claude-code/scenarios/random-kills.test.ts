import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { script } from '../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import type { RandomText } from '../../../bench/random-text.ts';
import { describeWithClaudeCode } from '../../support/claude-code.ts';
import { isLong, randomText } from '../../support/seed.ts';
import { type AgentChoice, bash, ClaudeServer } from '../claude-server.ts';
import { catchUp, checkStory } from './check-story.ts';
import { type HostServer, openHostServer } from './host-server.ts';
import { ScenarioRun } from './scenario-run.ts';

const KILLS = isLong ? 40 : 3;
/** A server that was killed leaves leases behind, which have to run out: so many sessions are killed at once. */
const SESSIONS = isLong ? 4 : 1;
const isSelected = isLong || process.env['FLEETLOOM_CLAUDE_CODE_REQUIRED'] === '1';

// The log may have more than the transcripts at the end of each thread, because a kill of the server kills the program, too. The
// program prints first and writes to its transcripts afterwards (seen: more than 2 s later, on a busy machine); what it had
// printed and not written at the kill is in no transcript, and no recovery can put it there. The log keeps it: it happened, and
// clients have received it. The comparison allows exactly this: the last items before the kill of a thread, none of them followed by
// one that was written; results of calls for which the transcript has none, or the result 'outcome unknown' that 2.1.325 writes
// when it resumes; and agents whose files were not written yet. What the transcripts have, the log must have.
await describeWithClaudeCode('one story with random kills of the server', ({ path, version }) => {
  let host: HostServer;
  beforeAll(async () => void (host = await openHostServer(path)), 120_000);
  afterAll(() => host.close());

  it.skipIf(!isSelected)(
    `[J344] ${KILLS} kills of the server while agents work at three depths: each log has what the transcripts have`,
    async () => {
      const random = randomText();
      const failures: string[] = [];
      const server = new ClaudeServer(host.handle);
      for (let kill = 0; kill < KILLS / SESSIONS; kill++) {
        const runs: ScenarioRun[] = [];
        for (let at = 0; at < SESSIONS; at++) {
          const session = await server.createSession({ roster: rosterOf(random) });
          const run = new ScenarioRun({ server, session, version, patienceMs: 60_000 });
          await server.client.beta.sessions.update(session, { metadata: { 'claude_code.depth': run.depthMax } });
          run.isRestarted = true;
          await run.say(`Go. ${thenOn(turnOf(random, 'main', 'middle'))}`);
          runs.push(run);
        }
        // What the program was not given before the kill is in no transcript.
        for (const run of runs) await run.isWritten();
        const afterMs = random.below(4_000);
        await sleep(afterMs);
        await server.restart();
        const when = `kill ${kill}, after ${afterMs} ms`;
        for (const run of runs)
          await continues(run).catch((error: unknown) => failures.push(`${when}: ${toDetail(error)}`));
      }
      expect(failures.join('\n\n')).toBe('');
    },
    KILLS * 60_000,
  );
});

/** The whole comparison, where it is one: the message of the error is cut. */
function toDetail(error: unknown): string {
  const { actual } = error as { readonly actual?: unknown };
  return typeof actual === 'string' ? actual : String(error);
}

async function continues(run: ScenarioRun): Promise<void> {
  const { server, session } = run;
  const isIdle = async () => (await server.client.beta.sessions.retrieve(session)).status === 'idle';
  await vi.waitFor(async () => expect(await isIdle()).toBe(true), { timeout: 60_000, interval: 200 });
  await run.followAgain();
  await run.ask('And now?');
  await catchUp(run);
  await run.leave();
  await checkStory(run, { isDisturbed: true, killedBefore: server.startedAt });
}

/** The main agent goes on with another message, however far it came with the first. */
function thenOn(turn: readonly object[]): string {
  const cases = [
    { match: 'And now', turn: [{ say: 'I go on.' }] },
    { match: 'is done', turn: [{ say: 'All is done.' }] },
  ];
  return `<script>${JSON.stringify({ when: cases, else: turn }).replaceAll('<', '\\u003c')}</script>`;
}

function rosterOf(random: RandomText): AgentChoice[] {
  const member = (name: string, below: string | null): AgentChoice => {
    const turns = Array.from({ length: 1 + random.below(3) }, (_, at) => turnOf(random, `${name} ${at}`, below));
    return {
      name,
      system: `You are ${name}. ${script(...turns, [...said(random, name), { say: `${name} is done.` }])}`,
    };
  };
  return [member('middle', 'deep'), member('deep', 'deepest'), member('deepest', null)];
}

/** Texts and thoughts, then calls at once: commands, and one or two agents. */
function turnOf(random: RandomText, name: string, below: string | null): object[] {
  const commands = Array.from({ length: 1 + random.below(2) }, (_, at) =>
    bash(`${random.pick(['', '', 'sleep 0.3; '])}echo ${name} ${at}; exit ${random.pick([0, 0, 3])}`),
  );
  const agents =
    below === null ? [] : Array.from({ length: 1 + random.below(2) }, (_, at) => delegateTo(below, `${name} ${at}`));
  return [
    ...said(random, name),
    ...random.pick([[...commands, ...agents], [...agents, ...commands], agents.length > 0 ? agents : commands]),
  ];
}

/** The prompt names all agents above, because the scripted model makes the ids of calls from what it is given. */
function delegateTo(agent: string, description: string): object {
  const above = description.startsWith('main') ? 'From main' : '{{last_user}}';
  const prompt = `${above}, ${description}`;
  return { call: 'Agent', input: { subagent_type: agent, description, prompt, run_in_background: false } };
}

function said(random: RandomText, name: string): object[] {
  return Array.from({ length: random.below(4) }, () => {
    const text = random.pick(['Again.', `${name} says ${random.prose(40, 0)}.`]);
    const chunks = random.pick([1, 3]);
    return { [random.pick(['say', 'say', 'think'])]: text, chunks, every_ms: random.pick([0, 20, 100]) };
  });
}
