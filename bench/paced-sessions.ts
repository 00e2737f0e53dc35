import { fork } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBenchServer } from './fleet-server.ts';
import { pause, toStamp } from './sessions-fleet.ts';

/** Sessions with one agent each, which write at the same pace, and a reader for each of them. */
export interface PacedWork {
  readonly sessions: number;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface PacedRun {
  /** Pieces of text that the readers received. */
  readonly stamps: number;
  /** Delays from writing a piece of text to its reader, without the first quarter, in which code is compiled. */
  readonly delaysMs: readonly number[];
  /** Processor time of this process, which has the engine and the server but not the readers, per second. */
  readonly cores: number;
}

/** Measures sessions through a whole server on a file. */
export async function measurePaced(work: PacedWork): Promise<PacedRun> {
  const server = await openBenchServer();
  server.prepare({ deltas: work.perSecond * work.seconds, perSecond: work.perSecond, isStamped: true });
  const run = await measureReaders(server.port, work);
  await server.close();
  return run;
}

/** Measures the same load with only a synced file and sockets. */
export async function measureBarePaced(work: PacedWork): Promise<PacedRun> {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-bench-'));
  const file = await open(join(folder, 'log'), 'w');
  let waiting: { readonly response: ServerResponse; readonly piece: string }[] = [];
  let syncing: Promise<void> | undefined;
  const sync = async () => {
    while (waiting.length > 0) {
      const pieces = waiting;
      waiting = [];
      await file.write(pieces.map(({ piece }) => piece).join(''));
      await file.datasync();
      for (const { response, piece } of pieces) response.write(piece);
    }
    syncing = undefined;
  };
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const write = () => {
      waiting.push({ response, piece: `event: text\ndata: {"delta":"${toStamp()}"}\n\n` });
      syncing ??= sync();
    };
    void writeAll(work, write).then(async () => {
      await syncing;
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const run = await measureReaders((server.address() as AddressInfo).port, work);
  await new Promise((resolve) => server.close(resolve));
  await file.close();
  await rm(folder, { recursive: true });
  return run;
}

async function writeAll({ perSecond, seconds }: PacedWork, write: () => void): Promise<void> {
  const startAt = performance.now();
  for (let index = 0; index < perSecond * seconds; index++) {
    await pause(index, startAt, perSecond);
    write();
  }
}

async function measureReaders(port: number, { sessions, seconds }: PacedWork): Promise<PacedRun> {
  const readers = fork(join(process.cwd(), 'bench', 'paced-readers.mjs'), { stdio: 'inherit', execArgv: [] });
  const skipMs = seconds * 250;
  const read = new Promise<Omit<PacedRun, 'cores'>>((resolve, reject) => {
    readers.once('message', (message) => resolve(message as Omit<PacedRun, 'cores'>));
    readers.once('exit', () => reject(new Error('the process of the readers has ended')));
  });
  readers.send({ port, sessions, skipMs });
  const cores = measureCores(skipMs * 2, skipMs);
  const run = { ...(await read), cores: await cores };
  readers.kill();
  return run;
}

/** Processor time per second, for some time in the middle of the run. */
async function measureCores(afterMs: number, forMs: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  await new Promise((resolve) => setTimeout(resolve, forMs));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / (performance.now() - startedAt);
}
