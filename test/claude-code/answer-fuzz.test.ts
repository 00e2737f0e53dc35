import { watchFleet } from '@fleetloom/client';
import { expect, it } from 'vitest';
import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { RandomText } from '../../bench/random-text.ts';
import type { SessionFrame } from '../../packages/server/src/frames/frames.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { isLong, randomText, timeout } from '../support/seed.ts';
import { type ClaudeServer, withClaudeServer } from './claude-server.ts';
import { randomAnswers } from './random-answers.ts';
import { toFleetForm, toFleetStory } from './scenarios/fleet-story.ts';
import { toLogStory } from './scenarios/log-story.ts';
import { findDifferences } from './scenarios/same-story.ts';
import { readTranscripts } from './transcripts.ts';

/** Each run starts a program of 200 MB. */
const RUNS = Number(process.env['FLEETLOOM_FUZZ_RUNS'] ?? (isLong ? 300 : 6));
const AT_ONCE = 2;

await describeWithClaudeCode('random answers of the real program', ({ path, version }) => {
  it(
    `[J269] in ${RUNS} runs the script, the transcripts, the log, the fleet stream and the events have the same of every thread`,
    async () => {
      const random = randomText();
      const seeds = Array.from({ length: RUNS }, () => random.below(2 ** 31));
      await withClaudeServer(path, async (server) => {
        const rest = seeds.values();
        const lane = async () => {
          for (const seed of rest) await run(server, seed, version !== '2.1.197');
        };
        await Promise.all(Array.from({ length: AT_ONCE }, lane));
      });
    },
    Math.max(timeout, 300_000),
  );
});

async function run(server: ClaudeServer, seed: number, canRepeatBlank: boolean): Promise<void> {
  const { prompt, agents } = randomAnswers(new RandomText(seed), canRepeatBlank);
  const session = await server.createSession({ roster: [{ name: 'worker' }] });
  const fleet = readFleetStream(server, session);
  await server.run(session, prompt);
  const events = await fleet;
  const { frames, problems } = await server.log(session);
  const compare = (what: string, got: unknown, wanted: unknown) =>
    expect([what, seed, got]).toEqual([what, seed, wanted]);
  compare('problems of the log', problems, []);
  const threads = toThreads(frames);
  const story = toLogStory(frames);
  const names = ['log', 'fleet stream'] as const;
  const differences = findDifferences(toFleetForm(story, story), toFleetStory(events, story), {
    names,
    isDisturbed: false,
  });
  compare('fleet stream', differences, []);
  compare('log', sorted([...threads.values()].map(({ said }) => said)), sorted(agents));
  // The program writes its transcripts a little later than its lines.
  const readSorted = async () => sorted(await readTranscripts(server.directory, session));
  await expect.poll(readSorted, { message: `transcripts ${seed}` }).toEqual(sorted(agents));
  for (const [id, { said, ids, deltas }] of threads) {
    compare('event ids that are there twice', ids.length - new Set(ids).size, 0);
    for (const [event, whole] of deltas) compare(`deltas of ${event}`, whole.grown, whole.text);
    const listed = (await server.threadEvents(session, id)).flatMap((event) => {
      if (event.type === 'agent.tool_use') return [`call ${event.name}`];
      return event.type === 'agent.message'
        ? [`text ${event.content.map((each) => ('text' in each ? each.text : '')).join('')}`]
        : [];
    });
    compare(
      'events',
      listed,
      said.filter((each) => !each.startsWith('thinking')),
    );
  }
  await server.client.beta.sessions.delete(session);
}

interface ThreadLog {
  readonly said: string[];
  readonly ids: string[];
  /** Of each block that grew: what it grew to, and what its event says. */
  readonly deltas: Map<string, { grown: string; text: string }>;
}

function toThreads(frames: readonly SessionFrame[]): Map<string, ThreadLog> {
  const threads = new Map<string, ThreadLog>();
  for (const { type, payload, threadId } of frames) {
    if (threadId === null) continue;
    const thread: ThreadLog = threads.get(threadId) ?? {
      said: [],
      ids: [],
      deltas: new Map(),
    };
    threads.set(threadId, thread);
    const block = (id: string) => {
      const known = thread.deltas.get(id) ?? { grown: '', text: '' };
      thread.deltas.set(id, known);
      return known;
    };
    if (type === 'delta.text' || type === 'delta.thinking') block(payload.id).grown += payload.text;
    if (type === 'agent.tool_use') thread.said.push(`call ${payload.name}`);
    if (type !== 'agent.message' && type !== 'agent.thinking') continue;
    const isText = type === 'agent.message';
    const text = isText
      ? payload.content.map((each) => each.text).join('')
      : payload.block.type === 'thinking'
        ? payload.block.thinking
        : '';
    thread.ids.push(payload.id);
    if (text !== '') thread.said.push(`${isText ? 'text' : 'thinking'} ${text}`);
    const known = thread.deltas.get(payload.id);
    if (known !== undefined) known.text = text;
  }
  return threads;
}

/** What a reader of the fleet stream receives until the run is done. */
async function readFleetStream({ url, key }: ClaudeServer, session: string): Promise<FleetEvent[]> {
  const events: FleetEvent[] = [];
  for await (const event of watchFleet({ url, key, session, gate: 'off', include: ['thinking'] })) {
    events.push(event);
    if (event.type === 'done') break;
  }
  return events;
}

function sorted(agents: readonly (readonly string[])[]): string[][] {
  return agents.map((said) => [...said]).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
