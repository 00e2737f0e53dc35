import { expect, it } from 'vitest';
import { isLong, randomText, timeout } from '../../../../../test/support/seed.ts';
import type { RandomText } from '../../../../../bench/random-text.ts';
import { createManualClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import { createLog, type SessionLog } from '../../store/log.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import type { Store } from '../../store/store.ts';
import { newSession } from '../../store/suite/samples.suite.ts';
import { FleetChannels } from './fleet-channels.ts';
import { BEGINNING } from './place.ts';
import { watchEverything } from './watch-everything.ts';
import { readFleet } from './watch-fleet.ts';

const options = { gate: 'off', includeThinking: false } as const;
const clock = createManualClock(Date.UTC(2026, 0, 1));

/** A session whose runs begin, emit text and end on demand. */
class Speaker {
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

  static async open(store: Store, log: SessionLog, id: string): Promise<Speaker> {
    const created = { threadId: null, turn: null, time: clock.now(), type: 'session.created' };
    const frames = [{ ...created, payload: { depth_max: 2, members: [] } }];
    await log.append({ type: 'create', session: newSession(id, { createdAt: clock.now() }), frames, changes: [] });
    const lease = await store.leases.acquire({ sessionId: id, owner: 'test', ttlMs: 1e9 });
    return new Speaker(log, id, lease.ok ? lease.fence : 0);
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
function firstRunFor({ startedAt, isOpen }: Speaker): number {
  const since = clock.now() - limits.fleetMarginMs;
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

  constructor(store: Store, log: SessionLog, random: RandomText, speakers: readonly Speaker[]) {
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
      onMishap: (error) => void this.problems.push(error),
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
  for await (const batch of readFleet({ channels, sessionId, options, after: BEGINNING })) {
    events.push(...batch.map(({ body }) => Buffer.from(body).toString().trimEnd()));
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
      const speakers: Speaker[] = [];
      const readers: Reader[] = [];
      for (let step = 0; step < 250; step++) {
        const speaker = speakers.length > 0 ? random.pick(speakers) : undefined;
        const act = random.below(10);
        if (speaker === undefined || (act === 0 && speakers.length < 15)) {
          speakers.push(await Speaker.open(store, log, `sesn_${speakers.length}`));
        } else if (act === 1 && readers.length < 4) readers.push(new Reader(store, log, random, speakers));
        else if (!speaker.isOpen) await speaker.begin();
        else if (act < 4) await speaker.end();
        else await speaker.say(`${step} `);
        if (random.below(3) === 0) await new Promise((resolve) => setImmediate(resolve));
        if (random.below(20) === 0) for (const reader of readers) reader.advance(limits.fleetLookMs);
      }
      for (const speaker of speakers) if (speaker.isOpen) await speaker.end();
      const alone = new FleetChannels({ store, log });
      const wanted = new Map<string, string[]>();
      for (const { id } of speakers) wanted.set(id, await expectedOf(alone, id));
      for (const reader of readers) {
        const told = [...wanted].map(([id, events]) => [id, reader.expected(id, events)] as const);
        const isWhole = () => told.every(([id, events]) => reader.eventsOf(id).length >= events.length);
        for (let look = 0; look < 5_000 && !(isWhole() && reader.channels.size === 0); look++) {
          reader.advance(limits.fleetLookMs);
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        // Duplicates would arrive now.
        reader.advance(limits.fleetLookMs);
        await new Promise((resolve) => setTimeout(resolve, 5));
        for (const [id, events] of told) expect(reader.eventsOf(id)).toEqual(events);
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
