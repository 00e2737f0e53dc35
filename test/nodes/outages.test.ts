import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProgram } from '../../packages/cli/test-support/processes.ts';
import { isLong } from '../support/seed.ts';
import { cut, type FaultName, faults, type Scene } from './faults.ts';
import { openOperated, type Operated } from './operated.ts';
import { probe, type Seen } from './probe.ts';
import { pause } from './work-through.ts';

let operated: Operated;
beforeAll(async () => {
  if (!isLong) return;
  buildProgram();
  operated = await openOperated();
}, 300_000);
afterAll(() => operated?.close());

interface Outage {
  readonly name: FaultName | 'all nodes cut from the database';
  /** How long the fault lasts. */
  readonly ms: number;
  /** The longest outage of reads and of writes, in milliseconds. */
  readonly reads: number;
  readonly writes: number;
  /** Whether rejections are fast and name a time for the next attempt. */
  readonly isRejected?: boolean;
}

/** Until nodes have noticed, and until they have noticed the end. */
const NOTICE_MS = 3_000;
const outages: readonly Outage[] = [
  { name: 'rolling SIGTERM', ms: 2_500, reads: 500, writes: 500 },
  { name: 'kill -9', ms: 0, reads: 500, writes: 1_000 },
  // A write is not sent to another node: it hangs until the client gives up, or the node continues.
  { name: 'a frozen node', ms: 20_000, reads: 6_000, writes: 25_000 },
  // A write that was in progress waits for its outcome.
  { name: 'a node cut from its database', ms: 17_000, reads: 6_000, writes: 12_000 },
  { name: 'the database is down', ms: 15_000, reads: 25_000, writes: 25_000, isRejected: true },
  { name: 'all nodes cut from the database', ms: 15_000, reads: 25_000, writes: 25_000, isRejected: true },
  { name: 'the database restarts', ms: 0, reads: 6_000, writes: 6_000 },
  { name: 'the database crashes', ms: 0, reads: 8_000, writes: 12_000 },
  { name: 'terminated backends', ms: 0, reads: 1_500, writes: 1_500 },
  { name: 'a locked table', ms: 16_000, reads: 1_500, writes: 18_000 },
  { name: 'no free connection of the database', ms: 12_000, reads: 25_000, writes: 25_000, isRejected: true },
  { name: 'the clock of the nodes jumps ahead', ms: 8_000, reads: 1_500, writes: 1_500 },
  { name: 'the clock of the nodes jumps back', ms: 8_000, reads: 1_500, writes: 1_500 },
  { name: 'a full disk', ms: 8_000, reads: 1_500, writes: 1_500 },
];

// One after the other, on the same nodes: each has to find them as good as new.
describe.runIf(isLong)('a fault', () => {
  it.each(outages)(
    '[P146] $name: a client without retries behind the documented load balancer has an outage of at most $reads ms of reads and $writes ms of writes',
    { timeout: 180_000 },
    async ({ name, ms, reads, writes, isRejected = false }) => {
      const { cluster, behindBalancer } = operated;
      await behindBalancer(async (url) => {
        const headers = { 'x-api-key': cluster.key, 'content-type': 'application/json' };
        const body = JSON.stringify({ name: 'e' });
        const send = (options: RequestInit) => () =>
          fetch(`${url}/v1/environments`, { ...options, headers, signal: AbortSignal.timeout(30_000) });
        const start = () => ({ reads: probe(send({})), writes: probe(send({ method: 'POST', body })) });
        // As slow as the machine is at this moment.
        const before = start();
        await pause(3_000);
        const calm = [await before.reads.end(), await before.writes.end()];
        const slowMs = 2 * Math.max(...calm.map(({ outageMs }) => outageMs));
        const probes = start();
        await pause(1_000);
        await apply(name, { ...operated, node: cluster.nodes[0]!, table: 'environments', ms });
        await pause(2 * NOTICE_MS);
        const seen = { reads: await probes.reads.end(), writes: await probes.writes.end() };
        const figures = `${name}: calm ${Math.round(slowMs / 2)} ms; reads ${show(seen.reads)}; writes ${show(seen.writes)}`;
        console.log(figures);
        expect(seen.reads.outageMs, figures).toBeLessThan(reads + slowMs);
        expect(seen.writes.outageMs, figures).toBeLessThan(writes + slowMs);
        expect([seen.reads.failures.get(500), seen.writes.failures.get(500)], figures).toEqual([undefined, undefined]);
        if (name === 'rolling SIGTERM') expect([...seen.reads.failures, ...seen.writes.failures], figures).toEqual([]);
        if (!isRejected) return;
        expect(seen.reads.failures.get(503), figures).toBeGreaterThan(5);
        expect(seen.reads.slowestRejectionMs, figures).toBeLessThan(NOTICE_MS + 2_000 + slowMs);
        // Those that were sent before the nodes had noticed.
        expect(seen.reads.withoutRetryAfter + seen.writes.withoutRetryAfter, figures).toBeLessThan(10);
      });
    },
  );
});

function show({ outageMs, failures, withoutRetryAfter, slowestRejectionMs }: Seen): string {
  const rejections = `slowest rejection ${Math.round(slowestRejectionMs)} ms, ${withoutRetryAfter} failures without retry-after`;
  return `${Math.round(outageMs)} ms, failures ${JSON.stringify([...failures])}, ${rejections}`;
}

function apply(name: Outage['name'], scene: Scene): Promise<void> {
  if (name === 'all nodes cut from the database') return cut(scene.cluster.nodes, scene.ms);
  return faults[name](scene);
}
