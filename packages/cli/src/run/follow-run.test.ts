import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RequestReceived } from '@fleetloom/protocol/fleet';
import { describe, expect, it } from 'vitest';
import { eventually, FakeIo } from '../../test-support/fake-io.ts';
import { createServerApi } from '../connection/server-api.ts';
import { limits } from '../base/limits.ts';
import { listenForStop } from './stop-listener.ts';
import { followRun } from './follow-run.ts';

const FIRST: RequestReceived = {
  type: 'request_received',
  cursor: '1',
  seq: 1,
  ts: 1,
  request_id: 'req_1',
  session_id: 'sesn_1',
  agent: 'a',
  message: 'm',
};

async function withServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  run: (url: string) => Promise<void>,
): Promise<void> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Follows a run on a fake clock. */
function follow(url: string) {
  const io = new FakeIo();
  const asked = listenForStop(io);
  const notes: string[] = [];
  const waits: number[] = [];
  const end = followRun(
    io,
    createServerApi({ url, key: undefined }),
    {
      first: FIRST,
      gate: 'strict',
      onEvent: () => {},
      onNote: (text) => notes.push(text),
      reconnect: {
        random: () => 0.5,
        // What it waits for happens at once; silence is no matter here.
        schedule: (callback, ms) => {
          if (ms < 35_000) waits.push(ms);
          const timer = ms < 35_000 ? setImmediate(callback) : undefined;
          return () => clearImmediate(timer);
        },
      },
    },
    asked,
  );
  return { io, asked, notes, waits, end };
}

describe('following a run', () => {
  it('[Y7] an unreachable server is given up after eight attempts, with the code of a missing server', async () => {
    let asked = 0;
    await withServer(
      (request) => {
        asked += 1;
        request.socket.destroy();
      },
      async (url) => {
        const { end, waits } = follow(url);
        await expect(end).rejects.toMatchObject({ exitCode: 6 });
        expect([asked, waits.length]).toEqual([limits.runRetriesMax + 1, limits.runRetriesMax]);
        expect(limits.runRetriesMax).toBe(8);
      },
    );
  });

  it('[Y7] the end of a cancelled run is waited for 15 seconds and no longer', async () => {
    const paths: string[] = [];
    await withServer(
      (request, response) => {
        paths.push(`${request.method} ${request.url}`);
        if (request.method === 'POST') response.end('{}');
        else response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n');
      },
      async (url) => {
        const { io, end, notes } = follow(url);
        let isOver = false;
        void end.then(() => (isOver = true));
        await eventually(() => paths.length === 1);
        io.send('SIGINT');
        await eventually(() => paths.includes('POST /v1/requests/req_1/cancel'));
        await io.timers.advance(limits.cancelMs - 1);
        expect([isOver, limits.cancelMs]).toEqual([false, 15_000]);
        await io.timers.advance(1);
        expect(await end).toEqual({ done: undefined });
        expect(notes).toEqual(['Ctrl-C: cancelling the run; repeat to exit at once.']);
        expect(io.timers.pending).toBe(0);
      },
    );
  });

  it('[Y7] the second signal leaves at once', async () => {
    await withServer(
      (request, response) => {
        if (request.method === 'POST') response.end('{}');
        else response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n');
      },
      async (url) => {
        const { io, end, asked } = follow(url);
        io.send('SIGTERM');
        io.send('SIGTERM');
        expect(await end).toEqual({ done: undefined });
        expect(asked.signal).toBe('SIGTERM');
      },
    );
  });
});
