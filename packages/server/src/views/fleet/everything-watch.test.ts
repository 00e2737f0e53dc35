import { expect, it, vi } from 'vitest';
import { isLong, randomText, timeout } from '../../../../../test/support/seed.ts';
import type { RandomText } from '../../../../../bench/random-text.ts';
import { createManualClock } from '../../base/clock.ts';
import { viewLimits } from '../limits.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import { createLog, type SessionLog } from '../../log/log.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import type { Store } from '../../store/store.ts';
import { newSession } from '../../store/suite/samples.suite.ts';
import { FleetChannels } from './fleet-channels.ts';
import { LOG_START } from './fleet-cursor.ts';
import { watchEverything } from './watch-everything.ts';
import { readFleet } from './watch-fleet.ts';

const options = { gate: 'off', includeThinking: false } as const;
const clock = createManualClock(Date.UTC(2026, 0, 1));

/** A session whose runs begin, emit text and end on demand. */
class StreamServer {
  readonly id: string;
  readonly #log: SessionLog;
  readonly #fence: number;
  /** When each of its runs began. */
  readonly startedAt: number[] = [];
  isOpen = false;

  constructor(log: SessionLog, id: string, fence: number) {
    this.#log = log;
    this.id = id;
    this.#fence = fence;
  }

  static async open(store: Store, log: SessionLog, id: string): Promise<StreamServer> {
    const created = { threadId: null, turn: null, time: clock.now(), type: 'session.created' };
    const frames = [{ ...created, payload: { agent: { model: { id: 'scripted/x' } }, depth_max: 2, members: [] } }];
    await log.append({ type: 'create', session: newSession(id, { createdAt: clock.now() }), frames, changes: [] });
    const lease = await store.leases.acquire({ sessionId: id, owner: 'test', ttlMs: 1e9 });
    return new StreamServer(log, id, lease.ok ? lease.fence : 0);
  }

  begin(): Promise<unknown> {
    this.isOpen = true;
    this.startedAt.push(clock.now());
    const started = { agent_name: 'a', model: 'm', task: 'Go', parent_stream_id: null, child_index: null };
    return this.#append(
      ['run.started', { agent_name: 'a', message: `${this.startedAt.length}` }],
      ['turn.started', started],
    );
  }

  say(text: string): Promise<unknown> {
    return this.#append(['delta.text', { id: 'sevt_1', text }]);
  }

  end(): Promise<unknown> {
    this.isOpen = false;
    const end = { ok: true, stop_reason: 'end_turn', error: null };
    return this.#append(['turn.ended', end], ['run.ended', { ...end, content: '' }], ['session.status_idle', {}]);
  }

  #append(...given: (readonly [type: string, payload: object])[]): Promise<unknown> {
    const turn = { streamId: 0, depth: 0, run: `req_${this.id}_${this.startedAt.length}` };
    const frames = given.map(([type, payload]) => ({ threadId: 'sthr_1', turn, time: clock.now(), type, payload }));
    return this.#log.append({ type: 'append', sessionId: this.id, fence: this.#fence, frames, changes: [] });
  }
}

/** The number of the first run that a new reader receives: an open one, one that started within the margin, or the next. */
function firstRunFor({ startedAt, isOpen }: StreamServer): number {
  const since = clock.now() - viewLimits.fleetMarginMs;
  const recent = startedAt.findIndex((time) => time >= since);
  if (recent !== -1) return recent + 1;
  return isOpen ? startedAt.length : startedAt.length + 1;
}

/** A reader of everything that takes what it is given at its own pace. */
class Reader {
  readonly leaving = new AbortController();
  readonly problems: unknown[] = [];
  readonly over: Promise<void>;
  readonly advance: (ms: number) => void;
  readonly channels: FleetChannels;
  /** The first run of each session that the reader receives. Of sessions created later it receives all runs. */
  readonly #firstRuns: ReadonlyMap<string, number>;
  #text = '';
  /** Events that were given without waiting for room. */
  ahead = 0;
  #isFull = false;

  constructor(store: Store, log: SessionLog, random: RandomText, speakers: readonly StreamServer[]) {
    this.#firstRuns = new Map(speakers.map((speaker) => [speaker.id, firstRunFor(speaker)]));
    const isSlow = random.below(2) === 0;
    const { schedule, advance } = createManualSchedule(clock);
    this.advance = advance;
    // Some readers receive no signals and depend on the periodic look.
    const hears = random.below(4) > 0;
    const heard: Store = {
      ...store,
      subscribe: (onSignals) =>
        store.subscribe((signals) => onSignals(signals.filter(() => hears && random.below(4) > 0))),
    };
    this.channels = new FleetChannels({ store: heard, log });
    this.over = watchEverything({
      channels: this.channels,
      workspaceId: 'w1',
      options,
      token: null,
      isLive: false,
      isFollowed: true,
      clock,
      schedule,
      watchedMax: 1 + random.below(3),
      sink: {
        signal: this.leaving.signal,
        send: (bytes) => {
          const text = Buffer.from(bytes).toString();
          this.#text += text;
          if (!text.startsWith('event:')) return true;
          if (this.#isFull) this.ahead++;
          this.#isFull = isSlow && random.below(3) === 0;
          return !this.#isFull;
        },
        room: async () => {
          for (let turn = random.below(4); turn >= 0; turn--) await new Promise((resolve) => setImmediate(resolve));
          this.#isFull = false;
        },
      },
      onError: (error) => void this.problems.push(error),
    });
  }

  /** The events of a session that the reader is to receive. */
  expected(sessionId: string, events: readonly string[]): readonly string[] {
    const first = this.#firstRuns.get(sessionId) ?? 1;
    const at = events.findIndex((event) => event.includes(`"request_id":"req_${sessionId}_${first}","agent"`));
    return at === -1 ? [] : events.slice(at);
  }

  eventsOf(sessionId: string): string[] {
    const blocks = this.#text.split('\n\n').filter((block) => block.startsWith('event:'));
    return blocks.filter((block) => block.includes(`"session_id":"${sessionId}"`));
  }
}

async function expectedOf(channels: FleetChannels, sessionId: string): Promise<string[]> {
  const events: string[] = [];
  for await (const batch of readFleet({ channels, sessionId, options, after: LOG_START })) {
    events.push(...batch.flatMap(({ body }) => Buffer.from(body).toString().trimEnd().split('\n\n')));
  }
  return events;
}

it(
  '[V135] whatever sessions do and however slowly readers read, each reader receives each event of each run exactly once and in order',
  async () => {
    const random = randomText();
    for (let round = 0; round < (isLong ? 300 : 8); round++) {
      const store = createMemoryStore({ clock });
      const log = createLog({ store });
      const speakers: StreamServer[] = [];
      const readers: Reader[] = [];
      for (let step = 0; step < 250; step++) {
        const speaker = speakers.length > 0 ? random.pick(speakers) : undefined;
        const act = random.below(10);
        if (speaker === undefined || (act === 0 && speakers.length < 15)) {
          speakers.push(await StreamServer.open(store, log, `sesn_${speakers.length}`));
        } else if (act === 1 && readers.length < 4) readers.push(new Reader(store, log, random, speakers));
        else if (!speaker.isOpen) await speaker.begin();
        else if (act < 4) await speaker.end();
        else await speaker.say(`${step} `);
        if (random.below(3) === 0) await new Promise((resolve) => setImmediate(resolve));
        if (random.below(20) === 0) for (const reader of readers) reader.advance(viewLimits.fleetLookMs);
      }
      for (const speaker of speakers) if (speaker.isOpen) await speaker.end();
      const alone = new FleetChannels({ store, log });
      const wanted = new Map<string, string[]>();
      for (const { id } of speakers) wanted.set(id, await expectedOf(alone, id));
      for (const reader of readers) {
        const expectations = [...wanted].map(([id, events]) => [id, reader.expected(id, events)] as const);
        const isWhole = () => expectations.every(([id, events]) => reader.eventsOf(id).length >= events.length);
        for (let look = 0; look < 5_000 && !(isWhole() && reader.channels.size === 0); look++) {
          reader.advance(viewLimits.fleetLookMs);
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        // Duplicates would arrive now.
        reader.advance(viewLimits.fleetLookMs);
        await new Promise((resolve) => setTimeout(resolve, 5));
        for (const [id, events] of expectations) expect(reader.eventsOf(id)).toEqual(events);
        expect([reader.problems, reader.ahead, reader.channels.size]).toEqual([[], 0, 0]);
        reader.leaving.abort();
        await reader.over;
      }
      await log.close();
      await store.close();
    }
  },
  timeout,
);

it('[V208] a run whose signals were lost is sent even if no look succeeds for longer than the margin of clocks', async () => {
  const memory = createMemoryStore({ clock });
  const log = createLog({ store: memory });
  const { schedule, advance } = createManualSchedule(clock);
  let isAway = false;
  const list: Store['runs']['list'] = async (request) => {
    if (isAway) throw new Error('the database is away');
    return await memory.runs.list(request);
  };
  const store: Store = { ...memory, subscribe: () => () => {}, runs: { ...memory.runs, list } };
  const leaving = new AbortController();
  const problems: unknown[] = [];
  let text = '';
  const send = (bytes: Uint8Array) => ((text += Buffer.from(bytes).toString()), true);
  const over = watchEverything({
    channels: new FleetChannels({ store, log }),
    workspaceId: 'w1',
    options,
    token: null,
    isLive: false,
    isFollowed: true,
    clock,
    schedule,
    sink: { signal: leaving.signal, send, room: async () => {} },
    onError: (error) => void problems.push(error),
  });
  const speaker = await StreamServer.open(memory, log, 'sesn_1');
  const look = async () => {
    advance(viewLimits.fleetLookMs);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  await look();
  isAway = true;
  await speaker.begin();
  await speaker.end();
  for (let passedMs = 0; passedMs < 2 * viewLimits.fleetMarginMs; passedMs += viewLimits.fleetLookMs) await look();
  expect(problems.length).toBeGreaterThan(1);
  isAway = false;
  await vi.waitUntil(async () => (await look(), text.includes('event: done')), { timeout: 20_000 });
  leaving.abort();
  await over;
});

/** A store with sessions that have a short ended run each. */
async function openRuns(count: number) {
  const store = createMemoryStore({ clock });
  const log = createLog({ store });
  for (let at = 0; at < count; at++) {
    const speaker = await StreamServer.open(store, log, `sesn_${at}`);
    await speaker.begin();
    await speaker.end();
  }
  return { store, log };
}

/** Reads everything, and returns the ids of the sessions whose runs have ended on the stream. */
function readEnds(channels: FleetChannels, workspaceId = 'w1') {
  const leaving = new AbortController();
  const ends: string[] = [];
  const { schedule } = createManualSchedule(clock);
  const send = (bytes: Uint8Array) => {
    const text = Buffer.from(bytes).toString();
    if (text.startsWith('event: done')) ends.push(/"session_id":"(\w+)"/.exec(text)![1]!);
    return true;
  };
  const sink = { signal: leaving.signal, send, room: async () => {} };
  const request = {
    channels,
    workspaceId,
    options,
    token: null,
    isLive: false,
    isFollowed: true,
    clock,
    schedule,
    sink,
  };
  const over = watchEverything({
    ...request,
    onError: (error) => {
      throw error;
    },
  });
  return { ends, leave: () => leaving.abort(), over };
}

it('[V171] readers of all sessions read few sessions at the same time, and what waits is dropped when they leave', async () => {
  const { store, log } = await openRuns(300);
  let [reading, most] = [0, 0];
  const counted: Store = {
    ...store,
    read: async (request) => {
      most = Math.max(most, ++reading);
      await new Promise((resolve) => setImmediate(resolve));
      reading--;
      return await store.read(request);
    },
  };
  const channels = new FleetChannels({ store: counted, log });
  const readers = Array.from({ length: 5 }, () => readEnds(channels));
  await vi.waitUntil(() => readers[0]!.ends.length > 0);
  expect(channels.turns.waitingCount).toBeLessThanOrEqual(readers.length * (viewLimits.fleetCatchUpMax + 1));
  readers[4]!.leave();
  await readers[4]!.over;
  const others = readers.slice(0, 4);
  await vi.waitUntil(() => others.every(({ ends }) => ends.length === 300), { timeout: 30_000 });
  expect(most).toBeLessThanOrEqual(viewLimits.fleetStepsMax);
  for (const { ends } of others) expect(new Set(ends).size).toBe(300);
  for (const reader of others) reader.leave();
  await Promise.all(others.map(({ over }) => over));
  expect(channels.turns.waitingCount).toBe(0);
  expect([viewLimits.fleetStepsMax, viewLimits.fleetCatchUpMax]).toEqual([4, 8]);
  await log.close();
});

it('[V172] the first events are sent before all recent runs are found, and each run once', async () => {
  const { store, log } = await openRuns(200);
  let find = () => {};
  const isFound = new Promise<void>((resolve) => (find = resolve));
  const slow: Store = {
    ...store,
    runs: {
      ...store.runs,
      list: async (request) => {
        if (request.limit > viewLimits.fleetFirstSessions) await isFound;
        return await store.runs.list(request);
      },
    },
  };
  const reader = readEnds(new FleetChannels({ store: slow, log }));
  await vi.waitUntil(() => reader.ends.length === viewLimits.fleetFirstSessions);
  find();
  await vi.waitUntil(() => reader.ends.length >= 200);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([reader.ends.length, new Set(reader.ends).size]).toEqual([200, 200]);
  expect(viewLimits.fleetFirstSessions).toBe(32);
  reader.leave();
  await reader.over;
  await log.close();
});
