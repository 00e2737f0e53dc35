import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildProgram } from '../../packages/cli/test-support/processes.ts';
import { isLong, randomText, timeout } from '../support/seed.ts';
import { type FaultName, faults } from './faults.ts';
import { openOperated, type Operated } from './operated.ts';
import { checkOwnership, noteOwnership } from './ownership.ts';
import { SdkWork } from './sdk-work.ts';
import { Caller } from './work.ts';
import { pause, workThrough } from './work-through.ts';

/** `FLEETLOOM_LONG=1` has so many sessions at a time, for so many minutes. */
const longSessions = Number(process.env['FLEETLOOM_LONG_SESSIONS'] ?? 40);
const longMinutes = Number(process.env['FLEETLOOM_LONG_MINUTES'] ?? 20);

/** Of the thirteen, which take some minutes. */
const SHORT_FAULTS = 5;
/** Longer than a lease: in the meantime other nodes take the sessions. */
const FROZEN_MS = 6_500;
/** Faults that every node notices at once last for a moment, or in the long form for longer than the store waits. */
const BRIEF_MS = 1_500;
const LONG_MS = 12_000;

let operated: Operated;
beforeAll(async () => {
  buildProgram();
  operated = await openOperated(isLong ? [] : ['--drain-seconds', '1']);
  noteOwnership(operated.database);
}, 300_000);
afterAll(() => operated?.close());

it('[P64, P200] thirteen faults in random order, with SDK clients behind the documented load balancer: 0 lost, 0 doubled, 0 stuck, each stream as its replay, one owner at a time', {
  timeout: Math.max(timeout, 600_000),
}, async () => {
  const { cluster, behindBalancer, database } = operated;
  await behindBalancer(async (url) => {
    const caller = new Caller(url, cluster.key);
    const { id: environmentId } = await caller.call<{ id: string }>('POST', '/v1/environments', { name: 'e' });
    const everything = watchEverything(caller);
    const options = { url, key: cluster.key, caller, environmentId, everything: everything.seen };
    const applied: string[] = [];
    const totals = await workThrough({
      cluster,
      count: isLong ? longSessions : 5,
      create: (name) => new SdkWork({ ...options, name, rounds: 4 }),
      isEndless: true,
      happen: () => applyFaults(applied),
      patienceMs: isLong ? 600_000 : 240_000,
    });
    await everything.end();
    const { appends, takeOvers, problems } = checkOwnership(database);
    console.log(
      `${totals.sessions} sessions, ${appends} appends, ${takeOvers} take-overs, ${applied.length} faults, ${totals.lost} lost, ` +
        `${totals.doubled} doubled, ${totals.gaps} gaps, ${problems.length} problems of owners; readers came ${caller.connections} times`,
    );
    expect([...totals.problems, ...problems].slice(0, 50), applied.join(', ')).toEqual([]);
    expect([totals.lost, totals.doubled, totals.gaps]).toEqual([0, 0, 0]);
    expect(takeOvers).toBeGreaterThan(0);
    if (isLong) expect(new Set(applied)).toEqual(new Set(Object.keys(faults)));
    // No node has crashed on its own.
    expect(cluster.nodes.map(({ deaths }) => deaths)).toEqual([0, 0, 0]);
  });
});

/** A reader of the stream of all sessions. */
function watchEverything(caller: Caller) {
  const seen = new Map<string, FleetEvent[]>();
  const leaving = new AbortController();
  const read = async () => {
    for await (const event of caller.watch(undefined, null, leaving.signal, 'strict')) {
      if (!('session_id' in event)) continue;
      const events = seen.get(event.session_id) ?? [];
      seen.set(event.session_id, events);
      events.push(event);
    }
  };
  const reading = read().catch((error: unknown) => {
    if (!leaving.signal.aborted) throw error;
  });
  return {
    seen,
    end: async () => {
      leaving.abort();
      await reading;
    },
  };
}

/** In the long form all of them, each time in another order, until the time is over; otherwise some. */
async function applyFaults(applied: string[]): Promise<void> {
  const random = randomText();
  const end = performance.now() + (isLong ? longMinutes * 60_000 : 0);
  await pause(1_000);
  do {
    const left = Object.keys(faults) as FaultName[];
    const first = random.pick(['kill -9', 'a frozen node', 'a node cut from its database'] as const);
    const rest = isLong ? 0 : left.length - SHORT_FAULTS;
    while (left.length > rest) {
      // One at least after which other nodes take the sessions.
      const at = applied.length === 0 ? left.indexOf(first) : random.below(left.length);
      const [name] = left.splice(at, 1) as [FaultName];
      applied.push(name);
      if (isLong) console.log(new Date().toISOString(), name);
      await faults[name]({
        ...operated,
        node: operated.cluster.nodes[applied.length % 3]!,
        table: random.pick(['logs', 'documents', 'sessions']),
        ms: toDuration(name),
      });
      await pause(random.below(1_000));
    }
  } while (performance.now() < end);
}

function toDuration(name: FaultName): number {
  if (name === 'a frozen node' || name === 'a node cut from its database') return FROZEN_MS;
  return isLong ? LONG_MS : BRIEF_MS;
}
