import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildProgram } from '../../packages/cli/test-support/processes.ts';
import { ownPostgres } from '../support/postgres.ts';
import { repositoryRoot } from '../support/root.ts';
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

const balancers: readonly Balancer[] = [
  {
    program: 'nginx',
    file: 'nginx.conf',
    toConfig: (text, port, nodes) =>
      text
        .replace(/^ *resolver .*\n/m, '')
        .replace(/^( *)server node:4280 resolve (.*)$/m, (_, indent: string, rest: string) =>
          nodes.map((node) => `${indent}server ${node} ${rest}`).join('\n'),
        )
        .replace('listen 80;', `listen 127.0.0.1:${port};`)
        .replace(
          'http {',
          `http {\n  access_log off;\n${TEMPORARY.map((name) => `  ${name}_temp_path t;`).join('\n')}`,
        ),
    toArgs: (path) => ['-p', directory, '-c', path, '-g', `daemon off; pid ${path}.pid; error_log ${path}.log;`],
  },
  {
    program: 'haproxy',
    file: 'haproxy.cfg',
    toConfig: (text, port, nodes) =>
      text
        .replace(/^ *server node\d .*\n/gm, '')
        .concat(nodes.map((node, index) => `  server node${index} ${node}\n`).join(''))
        .replace('bind :80', `bind 127.0.0.1:${port}`)
        .replace('hdr Host fleet.example.com', 'hdr Host 127.0.0.1'),
    toArgs: (path) => ['-db', '-f', path],
  },
];

interface Balancer {
  readonly program: 'nginx' | 'haproxy';
  readonly file: string;
  readonly toConfig: (text: string, port: number, nodes: readonly string[]) => string;
  readonly toArgs: (path: string) => readonly string[];
}

/** Debian has both programs in /usr/sbin, which is not on the path of every user. */
const PATH = { PATH: `${process.env['PATH']}:/usr/sbin:/usr/local/sbin` };
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

const isInstalled = ({ program }: Balancer) => spawnSync(program, ['-v'], { env: PATH }).error === undefined;
const [installed, missing] = [balancers.filter(isInstalled), balancers.filter((each) => !isInstalled(each))];
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
  await withBalancer(first, (url) => withBalancers(rest, run, [...urls, url]));
}

async function withBalancer({ program, file, toConfig, toArgs }: Balancer, run: (url: string) => Promise<void>) {
  const port = await findFreePort();
  const text = await readFile(join(repositoryRoot, 'docs', 'scaling', file), 'utf8');
  const path = join(directory, `${port}-${file}`);
  await writeFile(
    path,
    toConfig(
      text,
      port,
      cluster.nodes.map(({ url }) => new URL(url).host),
    ),
  );
  const child = spawn(program, toArgs(path), { env: PATH, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const url = `http://127.0.0.1:${port}`;
  try {
    await expect.poll(() => (child.exitCode === null ? isReady(url) : stderr), { timeout: 20_000 }).toBe(true);
    await run(url);
  } finally {
    await end(child);
  }
}

const isReady = (url: string) =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
