import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildProgram } from '../../packages/cli/test-support/processes.ts';
import { ownPostgres } from '../support/postgres.ts';
import { type Balancer, installed, missing, withBalancer } from './balancers.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { pause } from './work-through.ts';

// The documented files, started as they are except for the names, ports and directories of this machine.

let cluster: Cluster;
let directory: string;
beforeAll(async () => {
  buildProgram();
  directory = await mkdtemp(join(tmpdir(), 'fleetloom-balancers-'));
  cluster = await openCluster((await ownPostgres()).url, 2);
}, 300_000);
afterAll(async () => {
  await cluster?.close();
  await rm(directory, { recursive: true, force: true });
});

for (const { program } of missing) {
  it.skip(`[P92] ${program} is not installed (apt-get install ${program})`, () => {});
}

// All at the same time: each test waits for its nodes most of the time.
it.skipIf(installed.length === 0)(
  '[P92] a rolling restart behind each of them fails no read, and streams and uploads pass through',
  { timeout: 180_000 },
  async () => {
    await withBalancers(installed, async (urls) => {
      const headers = { 'x-api-key': cluster.key };
      const readers = await Promise.all(
        urls.map(async (url) => {
          const stream = await fetch(`${url}/v1/fleet?from=live`, { headers });
          const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
          // A heartbeat, or the beginning of the stream, arrives without more bytes behind it.
          expect((await reader.read()).value).not.toBe('');
          const form = new FormData();
          form.set('file', new Blob(['x'.repeat(3_000_000)]), 'large.txt');
          const upload = await fetch(`${url}/v1/files`, { method: 'POST', headers, body: form });
          expect([upload.status, await upload.json()]).toMatchObject([200, { size_bytes: 3_000_000 }]);
          return reader;
        }),
      );

      const reads = urls.map(readOnAndOn);
      for (const node of cluster.nodes) {
        expect(await node.stop()).toBe(0);
        await node.start();
        // A balancer with active checks has to notice that the node is back.
        await pause(2_500);
      }
      for (const [index, { failures, count }] of (await endAll(reads)).entries()) {
        expect([installed[index]!.file, ...failures]).toEqual([installed[index]!.file]);
        expect(count).toBeGreaterThan(50);
      }
      await Promise.all(readers.map((reader) => reader.cancel()));
    });
  },
);

it.skipIf(installed.length === 0)(
  '[P92] while a node hangs or has lost its database, every read behind each of them is answered within 6 s',
  { timeout: 180_000 },
  async () => {
    await withBalancers(installed, async (urls) => {
      const [node] = cluster.nodes;
      const reads = urls.map(readOnAndOn);
      node!.signal('SIGSTOP');
      await pause(8_000);
      node!.signal('SIGCONT');
      await pause(3_000);
      node!.cable.cut();
      await pause(8_000);
      node!.cable.heal();
      await pause(3_000);
      for (const [index, { failures, longestMs }] of (await endAll(reads)).entries()) {
        expect([installed[index]!.file, ...failures]).toEqual([installed[index]!.file]);
        expect(longestMs).toBeLessThan(6_000);
      }
    });
  },
);

/** Reads through the balancer until it is ended, without retries. */
function readOnAndOn(url: string) {
  const failures: string[] = [];
  const leaving = new AbortController();
  let count = 0;
  let longestMs = 0;
  const loop = async () => {
    while (!leaving.signal.aborted) {
      const since = performance.now();
      const response = await fetch(`${url}/v1/agents`, { headers: { 'x-api-key': cluster.key } }).catch(String);
      if (typeof response === 'string') failures.push(response);
      else if (!response.ok) failures.push(`${response.status} ${await response.text()}`);
      else await response.text();
      count += 1;
      longestMs = Math.max(longestMs, performance.now() - since);
      await pause(50);
    }
  };
  const loops = Promise.all([loop(), loop(), loop(), loop()]);
  return {
    end: async () => {
      leaving.abort();
      await loops;
      return { failures, count, longestMs };
    },
  };
}

const endAll = (reads: readonly ReturnType<typeof readOnAndOn>[]) => Promise.all(reads.map((each) => each.end()));

/** Runs with the addresses of several balancers, in their order. */
async function withBalancers(
  all: readonly Balancer[],
  run: (urls: readonly string[]) => Promise<void>,
  urls: readonly string[] = [],
): Promise<void> {
  const [first, ...rest] = all;
  if (first === undefined) return await run(urls);
  await withBalancer(first, cluster, directory, (url) => withBalancers(rest, run, [...urls, url]));
}
