import type { GateMode } from '@fleetloom/protocol/fleet';
import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import type { RandomText } from '../../../bench/random-text.ts';
import { isLong, seed, timeout } from '../../support/seed.ts';
import { toSessionFrame } from '../../../packages/server/src/frames/frames.ts';
import { readState } from '../../../packages/server/src/sessions/runtime/read-state.ts';
import { STATE_CHECKPOINT } from '../../../packages/server/src/sessions/core/state/saved-state.ts';
import { runRandomFleet } from '../../../packages/server/src/sessions/suite/random-run.suite.ts';
import { writeStateCheckpoint } from '../../../packages/server/src/sessions/runtime/write-state-checkpoint.ts';
import { createMemoryStore } from '../../../packages/server/src/store/memory/memory-store.ts';
import { pruneDeltas } from '../../../packages/server/src/log/prune-deltas.ts';
import { openSqliteStore } from '../../../packages/server/src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../packages/server/src/store/store.ts';
import { OwnFold } from '../../../packages/server/src/views/fleet/fleet-fold.ts';
import { LOG_START, isAfter, type FleetCursor } from '../../../packages/server/src/views/fleet/fleet-cursor.ts';
import { splitEvents } from '../../../packages/server/src/views/fleet/split-events.suite.ts';
import { FLEET_CHECKPOINT } from '../../../packages/server/src/views/fleet/view-checkpoint.ts';
import { writeFleetCheckpoints } from '../../../packages/server/src/views/fleet/write-checkpoints.ts';
import { findEvent } from '../../../packages/server/src/views/managed-agents/find-event.ts';
import { listEvents } from '../../../packages/server/src/views/managed-agents/list-events.ts';
import { toEvent } from '../../../packages/server/src/views/managed-agents/to-event.ts';

const { signal } = new AbortController();
const MODES: readonly GateMode[] = ['strict', 'live', 'off'];
const RUNS = isLong ? 2_000 : 12;
/** On a busy machine the short test has to do with fewer, but never with too few to prove anything. */
const RUNS_MS = isLong ? Infinity : 3_000;

/** Logs of random fleets, with all that can happen in one. */
async function inspectMany(
  inspect: Parameters<typeof runRandomFleet>[2],
  isEnough: () => boolean = () => true,
): Promise<void> {
  console.log(`FLEETLOOM_SEED=${seed}`);
  const deadline = performance.now() + RUNS_MS;
  for (let run = 0; run < RUNS && (performance.now() < deadline || !isEnough()); run++) {
    await runRandomFleet(seed + run, ({ clock }) => createMemoryStore({ clock }), inspect);
  }
}

it(
  '[V131] a fleet view restored from a checkpoint emits the same events as a view folded from the start of the run, at any spacing and cut',
  async () => {
    let used = 0;
    await inspectMany(
      async (store, sessionIds, random) => {
        for (const sessionId of sessionIds) {
          const whole = await Promise.all(MODES.map((gate) => readAll(store, sessionId, gate, LOG_START)));
          await writeAll(store, sessionId, 1 + random.below(7));
          used += await countCheckpoints(store, sessionId);
          await expectSame(store, sessionId, whole, random);
          // Pruned deltas change the events of a fold, so checkpoints from before must not be used.
          const ended = ({ type }: { type: string }) => type === 'turn.ended';
          const isDelta = ({ type }: { type: string }) => type.startsWith('delta.') && random.below(2) === 0;
          await pruneDeltas({ store, sessionId, endedBefore: Infinity, isDelta, isTurnEnd: ended });
          const pruned = await Promise.all(MODES.map((gate) => readAll(store, sessionId, gate, LOG_START)));
          await expectSame(store, sessionId, pruned, random);
          await writeAll(store, sessionId, 1 + random.below(7));
          await expectSame(store, sessionId, pruned, random);
        }
      },
      () => used > 100,
    );
    // If none was there it would prove nothing.
    expect(used).toBeGreaterThan(100);
  },
  timeout,
);

it(
  '[V131] the same holds on SQLite',
  async () => {
    const path = ':memory:';
    const store = await openSqliteStore({ path });
    await store.close();
    await inspectOnce(async (opened, sessionIds, random) => {
      for (const sessionId of sessionIds) {
        const whole = await Promise.all(MODES.map((gate) => readAll(opened, sessionId, gate, LOG_START)));
        await writeAll(opened, sessionId, 3);
        await expectSame(opened, sessionId, whole, random);
      }
    });

    async function inspectOnce(inspect: Parameters<typeof runRandomFleet>[2]): Promise<void> {
      await runRandomFleet(seed, ({ clock }) => openSqliteStore({ path, clock }), inspect);
    }
  },
  timeout,
);

it(
  '[R311] a session state restored from a checkpoint equals the state folded from the whole log, at any frame',
  async () => {
    let used = 0;
    await inspectMany(
      async (store, sessionIds, random) => {
        for (const sessionId of sessionIds) {
          const head = (await store.heads([sessionId])).get(sessionId)!;
          const cuts = Array.from({ length: 4 }, () => 1 + random.below(head));
          const whole = await Promise.all([head, ...cuts].map((upTo) => readState(store, sessionId, { upTo })));
          for (const cut of cuts.toSorted((a, b) => a - b)) {
            await writeStateCheckpoint({ store, sessionId, head: cut, signal, bytes: 1 });
            const kept = await store.checkpoints.findSeq({ sessionId, kind: STATE_CHECKPOINT, upTo: head });
            used += kept === undefined ? 0 : 1;
            expect(await readState(store, sessionId)).toEqual(whole[0]);
          }
          for (const [index, upTo] of cuts.entries()) {
            expect(await readState(store, sessionId, { upTo })).toEqual(whole[index + 1]);
          }
        }
      },
      () => used > 10,
    );
    expect(used).toBeGreaterThan(10);
  },
  timeout,
);

it(
  '[V132] pages of events in either order, and lookups of events by id, match the whole log',
  async () => {
    await inspectMany(async (store, sessionIds, random) => {
      for (const sessionId of sessionIds) {
        const state = (await readState(store, sessionId))!;
        const threadId = random.pick([...state.threads.keys()]);
        const place = { primaryId: state.created.primary_thread_id, threadId };
        const request = { store, sessionId, place, waitingIds: [], isWanted: () => true };
        const frames = await readFrames(store, sessionId);
        const all = frames.flatMap((frame) => {
          const isQueued = 'is_processed' in frame.payload && !frame.payload.is_processed;
          const isMessage = frame.type === 'user.message' || frame.type === 'system.message';
          const event = isMessage && isQueued ? undefined : toEvent(frame, place);
          return event === undefined ? [] : [event];
        });
        for (const order of ['asc', 'desc'] as const) {
          const listed: SessionEvent[] = [];
          let cursor: number | null = null;
          do {
            const page = await listEvents({ ...request, order, limit: 1 + random.below(20), cursor });
            listed.push(...page.events);
            cursor = page.next;
          } while (cursor !== null);
          expect(order === 'asc' ? listed : listed.toReversed()).toEqual(all);
        }
        // A session that was archived before anything happened has no events.
        for (let look = 0; look < 5 && all.length > 0; look++) {
          const { id } = random.pick(all) as { id: string };
          const last = frames.findLast(
            ({ type, payload }) => !type.startsWith('delta.') && 'id' in payload && payload.id === id,
          );
          expect(await findEvent(store, sessionId, id)).toBe(last!.seq);
        }
      }
    });
  },
  timeout,
);

async function readFrames(store: Store, sessionId: string) {
  const entries = await store.read({ sessionId, after: 0, entriesMax: Infinity, bytesMax: Infinity });
  return entries.flatMap((entry) => (entry.kind === 'frame' ? [toSessionFrame(entry.value)] : []));
}

/** As readers see it: each event as it goes out. */
async function readAll(store: Store, sessionId: string, gate: GateMode, after: FleetCursor) {
  const own = await OwnFold.begin({ store, sessionId, options: { gate, includeThinking: true } }, after);
  const events: { seq: number; index: number; text: string }[] = [];
  for (let batch = await own.next(); batch !== undefined; batch = await own.next()) {
    for (const { bytes } of batch) events.push(...splitEvents(bytes));
  }
  return events;
}

type Events = Awaited<ReturnType<typeof readAll>>;

async function expectSame(
  store: Store,
  sessionId: string,
  whole: readonly Events[],
  random: RandomText,
): Promise<void> {
  const head = (await store.heads([sessionId])).get(sessionId)!;
  for (let cut = 0; cut < 6; cut++) {
    const after = { seq: random.below(head + 1), index: random.pick([0, 1, Number.POSITIVE_INFINITY]) };
    for (const [index, gate] of MODES.entries()) {
      const rest = whole[index]!.filter((event) => isAfter(event, after));
      expect(await readAll(store, sessionId, gate, after)).toEqual(rest);
    }
  }
}

/** Of all runs, each up to its end. */
async function writeAll(store: Store, sessionId: string, frames: number): Promise<void> {
  let head = (await store.heads([sessionId])).get(sessionId)!;
  while (head > 0) {
    const run = await store.runs.findAt(sessionId, head);
    if (run === undefined) return;
    await writeFleetCheckpoints({ store, sessionId, head: run.lastSeq ?? head, signal, frames });
    head = run.firstSeq - 1;
  }
}

async function countCheckpoints(store: Store, sessionId: string): Promise<number> {
  let count = 0;
  for (let upTo = Number.MAX_SAFE_INTEGER; ; count++) {
    const kept = await store.checkpoints.findSeq({ sessionId, kind: FLEET_CHECKPOINT, upTo });
    if (kept === undefined) return count;
    upTo = kept.seq - 1;
  }
}
