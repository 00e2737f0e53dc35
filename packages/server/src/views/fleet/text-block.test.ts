import type { GateMode } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { isLong, seed, timeout } from '../../../../../test/support/seed.ts';
import { type SessionFrame, toSessionFrame } from '../../frames/frames.ts';
import { createLog } from '../../log/log.ts';
import { runRandomFleet } from '../../sessions/suite/random-run.suite.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import type { Store } from '../../store/store.ts';
import { viewLimits } from '../limits.ts';
import { cutBehind, type EncodedEvent, encodeEvents } from './encoded-event.ts';
import { FleetChannels } from './fleet-channels.ts';
import { afterFrame, isAfter, LOG_START } from './fleet-cursor.ts';
import { FleetFold } from './fleet-fold.ts';
import { FleetView, type FleetViewOptions } from './fleet-view.ts';
import { splitEvents } from './split-events.suite.ts';
import { watchFleet } from './watch-fleet.ts';

const MODES: readonly GateMode[] = ['strict', 'live', 'off'];
const RUNS = isLong ? 1_000 : 3;

/** What every event is without the fast path: folded and encoded one by one. */
function encodePlainly(frames: readonly SessionFrame[], options: FleetViewOptions): EncodedEvent[] {
  const view = new FleetView(options);
  return frames.flatMap((frame) => encodeEvents(frame, view.take(frame)));
}

async function readEntries(store: Store, sessionId: string) {
  return await store.read({ sessionId, after: 0, entriesMax: Infinity, bytesMax: Infinity });
}

const join = (events: readonly Pick<EncodedEvent, 'bytes'>[]) => Buffer.concat(events.map(({ bytes }) => bytes));

it(
  '[V195] text that is encoded in pieces is the same bytes as event by event, with and without ids, cut at any cursor, in every gate mode',
  async () => {
    console.log(`FLEETLOOM_SEED=${seed}`);
    let blocks = 0;
    for (let run = 0; run < RUNS; run++) {
      await runRandomFleet(
        seed + run,
        ({ clock }) => createMemoryStore({ clock }),
        async (store, sessionIds, random) => {
          for (const sessionId of sessionIds) {
            const entries = await readEntries(store, sessionId);
            const frames = entries.flatMap((entry) => (entry.kind === 'frame' ? [toSessionFrame(entry.value)] : []));
            for (const gate of MODES) {
              const options = { gate, includeThinking: random.below(2) === 0 };
              const plain = encodePlainly(frames, options);
              const fold = await FleetFold.begin({ store, sessionId, options }, 0);
              const fast = fold.take(entries);
              blocks += fast.filter(({ first }) => first !== undefined).length;
              expect(join(fast).toString()).toBe(join(plain).toString());
              expect(Buffer.concat(fast.map(({ body }) => body))).toEqual(Buffer.concat(plain.map(({ body }) => body)));
              const head = entries.at(-1)!.lastSeq;
              const after = { seq: random.below(head + 1), index: random.pick([0, 1, Number.POSITIVE_INFINITY]) };
              const rest = fast.flatMap((event) => cutBehind(event, after) ?? []);
              const expected = plain.filter((event) => isAfter(event, after));
              expect(join(rest).toString()).toBe(join(expected).toString());
            }
          }
        },
      );
    }
    expect(blocks).toBeGreaterThan(10);
  },
  timeout,
);

it('[V195] a piece ends with its limit, and a reader whose cursor lies within it receives the rest, once', async () => {
  const store = createMemoryStore();
  const log = createLog({ store });
  const { append, lengthOf } = await openTalk(log, store);
  const count = Math.ceil((3 * viewLimits.fleetBlockCharsMax) / lengthOf);
  await append(count);
  const entries = await readEntries(store, 'sesn_1');
  const options = { gate: 'off', includeThinking: false } as const;
  const fold = await FleetFold.begin({ store, sessionId: 'sesn_1', options }, 0);
  const pieces = fold.take(entries).filter(({ type }) => type === 'text');
  expect(pieces.length).toBeGreaterThan(2);
  for (const { bytes } of pieces.slice(0, -1)) {
    expect(bytes.length).toBeGreaterThanOrEqual(viewLimits.fleetBlockCharsMax);
    expect(bytes.length).toBeLessThan(viewLimits.fleetBlockCharsMax + 2 * lengthOf);
  }
  const channels = new FleetChannels({ store, log });
  const [one, two] = [new AbortController(), new AbortController()];
  const first = watchFleet({ channels, sessionId: 'sesn_1', options, after: LOG_START, signal: one.signal });
  await first.next();
  const last = entries.at(-1)!.lastSeq;
  // The channel makes one piece of these, and the second reader has the first two already.
  await append(5);
  const second = watchFleet({
    channels,
    sessionId: 'sesn_1',
    options,
    after: afterFrame(last + 2),
    signal: two.signal,
  });
  const seen = await second.next();
  const events = (seen.value as readonly EncodedEvent[]).flatMap(({ bytes }) => splitEvents(bytes));
  expect(events.map(({ seq }) => seq)).toEqual([last + 3, last + 4, last + 5]);
  one.abort();
  two.abort();
  await Promise.all([first.return('ended'), second.return('ended')]);
  await log.close();
  await store.close();
});

async function openTalk(log: ReturnType<typeof createLog>, store: Store) {
  const turn = { streamId: 0, depth: 0, run: 'req_1' };
  const frame = (type: string, payload: object) => ({ threadId: 'sthr_1', turn, time: 1, type, payload });
  const agent = { model: { id: 'scripted/x' } };
  const frames = [
    { ...frame('session.created', { agent, depth_max: 2, members: [] }), turn: null },
    frame('run.started', { agent_name: 'lead', message: 'Go' }),
    frame('turn.started', { agent_name: 'lead', model: 'm', task: 'Go', parent_stream_id: null, child_index: null }),
  ];
  const session = {
    workspaceId: 'w1',
    id: 'sesn_1',
    agentId: 'agent_1',
    agentVersion: 1,
    environmentId: 'env_1',
    status: 'running' as const,
    createdAt: 1,
    data: {},
  };
  await log.append({ type: 'create', session, frames, changes: [] });
  const lease = await store.leases.acquire({ sessionId: 'sesn_1', owner: 'test', ttlMs: 60_000 });
  const fence = lease.ok ? lease.fence : 0;
  const text = frame('delta.text', { id: 'sevt_1', text: 'a few words, ' });
  const append = async (count: number) => {
    const texts = Array.from({ length: count }, () => text);
    await log.append({ type: 'append', sessionId: 'sesn_1', fence, frames: texts, changes: [] });
  };
  return { append, lengthOf: 180 };
}
