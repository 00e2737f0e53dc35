import { mkdtemp, open, rm } from 'node:fs/promises';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SseDecoder } from '@fleetloom/protocol/sse';
import type { BenchWork } from './sessions-fleet.ts';

/**
 * Measures delays from a timer to a client at this pace with only Node and a synced file in between, in the order of sending: the
 * floor of this machine and its disk at this moment.
 */
export async function measureBareDelays(
  agents: number,
  { deltas, perSecond }: Required<Pick<BenchWork, 'deltas' | 'perSecond'>>,
): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-bench-'));
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    void speakAll(response, join(folder, 'log'), agents, { deltas, perSecond });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const delaysMs = await readDelays((server.address() as AddressInfo).port);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  await rm(folder, { recursive: true });
  return delaysMs;
}

async function speakAll(
  response: ServerResponse,
  path: string,
  agents: number,
  work: Required<Pick<BenchWork, 'deltas' | 'perSecond'>>,
) {
  const file = await open(path, 'w');
  let waiting: string[] = [];
  let syncing: Promise<void> | undefined;
  const sync = async () => {
    while (waiting.length > 0) {
      const pieces = waiting;
      waiting = [];
      await file.write(pieces.join(''));
      await file.datasync();
      for (const piece of pieces) response.write(piece);
    }
    syncing = undefined;
  };
  const say = () => {
    waiting.push(`data: ${performance.now()}\n\n`);
    syncing ??= sync();
  };
  await Promise.all(Array.from({ length: agents }, () => speak(say, work)));
  await syncing;
  await file.close();
  response.end();
}

async function speak(
  say: () => void,
  { deltas, perSecond }: Required<Pick<BenchWork, 'deltas' | 'perSecond'>>,
): Promise<void> {
  const startAt = performance.now();
  for (let index = 0; index < deltas; index++) {
    const waitMs = startAt + (index * 1_000) / perSecond - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    say();
  }
}

async function readDelays(port: number): Promise<number[]> {
  const options = { host: '127.0.0.1', port, agent: false };
  const response = await new Promise<IncomingMessage>((resolve, reject) => get(options, resolve).on('error', reject));
  const delaysMs: number[] = [];
  const decoder = new SseDecoder();
  for await (const chunk of response) {
    const now = performance.now();
    for (const item of decoder.push(chunk as Buffer)) {
      if (item.type === 'event') delaysMs.push(now - Number(item.data));
    }
  }
  return delaysMs;
}
