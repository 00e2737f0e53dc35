import { once } from 'node:events';
import { request as startRequest, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { programLimits } from '../limits.ts';
import { createAnswerTap } from './answer-tap.ts';
import type { GatewayEvent } from './events.ts';
import { answerOf, ask, eventsOf, lastOf, openWay, readAll, STREAM } from './gateway.suite.ts';

const MEGABYTE = 1024 * 1024;

it('[J116] a slow program slows the endpoint down, and nothing piles up between them', async () => {
  let sent = 0;
  const whole = 96 * MEGABYTE;
  const { session } = await openWay((_, response) => {
    response.writeHead(200, STREAM);
    const piece = Buffer.from(`data: ${'x'.repeat(MEGABYTE - 8)}\n\n`);
    const pump = () => {
      while (sent < whole) {
        sent += piece.length;
        if (!response.write(piece)) return void response.once('drain', pump);
      }
      response.end();
    };
    pump();
  });
  const answer = await ask(session);
  answer.once('readable', () => undefined);
  // It has stalled when nothing more is sent for a while.
  let before = -1;
  while (before !== sent) {
    before = sent;
    await sleep(500);
  }
  expect(sent).toBeLessThan(whole / 2);
  let read = 0;
  for await (const piece of answer) read += (piece as Buffer).length;
  expect(read).toBe(whole);
}, 120_000);

it('[J116] a slow endpoint slows the program down', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let got = 0;
  const { session } = await openWay((request, response) => {
    void held.then(() => {
      request.on('data', (piece: Buffer) => {
        got += piece.length;
      });
      request.on('end', () => response.end(String(got)));
    });
  });
  const request = startRequest(`${session.baseURL}/v1/messages`, { method: 'POST', agent: false });
  const piece = Buffer.alloc(MEGABYTE, 'x');
  const whole = programLimits.gatewayRequestBytesMax / MEGABYTE;
  let written = 0;
  const writing = (async () => {
    for (; written < whole; written++) if (!request.write(piece)) await once(request, 'drain');
    request.end();
  })();
  let before = -1;
  while (before !== written) {
    before = written;
    await sleep(500);
  }
  expect(written).toBeLessThan(whole);
  release();
  const [answer] = await once(request, 'response');
  await writing;
  expect((await readAll(answer)).toString()).toBe(String(whole * MEGABYTE));
}, 120_000);

it('[J117] a program that hangs up ends the request to the endpoint', async () => {
  let isGone = false;
  const { session, heard } = await openWay((_, response) => {
    response.writeHead(200, STREAM).write(answerOf(['a']).slice(0, 300));
    response.on('close', () => {
      isGone = true;
    });
  });
  const answer = await ask(session);
  await once(answer, 'data');
  answer.destroy();
  await vi.waitFor(() => expect(isGone).toBe(true), 20_000);
  await vi.waitFor(
    () => expect(lastOf(heard)).toMatchObject({ type: 'failed', failure: { reason: 'aborted' } }),
    20_000,
  );
});

it('[J117] a program that hangs up before there is an answer ends the request too', async () => {
  let arrived: () => void = () => undefined;
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  let isGone = false;
  const { session, heard } = await openWay((_, response) => {
    response.on('close', () => {
      isGone = true;
    });
    arrived();
  });
  const request = startRequest(`${session.baseURL}/v1/messages`, { method: 'POST', agent: false });
  request.on('error', () => undefined);
  request.end('{}');
  await arrival;
  request.destroy();
  await vi.waitFor(() => expect(isGone).toBe(true), 20_000);
  await vi.waitFor(
    () => expect(lastOf(heard)).toMatchObject({ type: 'failed', failure: { reason: 'aborted' } }),
    20_000,
  );
});

it('[J118] an endpoint that hangs up cuts the program off: half an answer never looks whole', async () => {
  const { session, heard } = await openWay((_, response) => {
    response.writeHead(200, STREAM).write(answerOf(['a']).slice(0, 300), () => response.destroy());
  });
  const answer = await ask(session);
  await expect(readAll(answer)).rejects.toThrow('aborted');
  await vi.waitFor(
    () => expect(lastOf(heard)).toMatchObject({ type: 'failed', failure: { reason: 'broken' } }),
    20_000,
  );
});

it('[J338] an answer that the model in this process cuts off breaks for the program too', async () => {
  const { session, heard } = await openWay({
    type: 'handler',
    handle: (_, response) => {
      response.writeHead(200, STREAM).write(answerOf(['a']).slice(0, 300), () => response.destroy());
    },
  });
  await expect(readAll(await ask(session))).rejects.toThrow('aborted');
  await vi.waitFor(
    () => expect(lastOf(heard)).toMatchObject({ type: 'failed', failure: { reason: 'broken' } }),
    20_000,
  );
}, 10_000);

it('[J338] a program that hangs up ends the answer of the model in this process', async () => {
  let isGone = false;
  const { session } = await openWay({
    type: 'handler',
    handle: (_, response) => {
      response.on('close', () => (isGone = true));
      response.writeHead(200, STREAM).write(':hello\n\n');
    },
  });
  const answer = await ask(session);
  answer.on('error', () => undefined);
  answer.destroy();
  await vi.waitFor(() => expect(isGone).toBe(true), 5_000);
}, 10_000);

it('[J119] closing a session ends what is under way', async () => {
  const { session, heard } = await openWay((_, response) => response.writeHead(200, STREAM).write(':hello\n\n'));
  const answer = await ask(session);
  const reading = readAll(answer);
  await vi.waitFor(() => expect(eventsOf(heard)).toEqual([{ type: 'requested' }]), 20_000);
  session.close();
  await expect(reading).rejects.toThrow('aborted');
  await vi.waitFor(
    () => expect(lastOf(heard)).toMatchObject({ type: 'failed', failure: { reason: 'aborted' } }),
    20_000,
  );
});

it('[J120] requests of a session under way are limited; one more is rejected with a time to retry', async () => {
  const open: ServerResponse[] = [];
  const { session } = await openWay((_, response) => void open.push(response), { requestsMax: 2 });
  const first = [ask(session), ask(session)];
  await vi.waitFor(() => expect(open).toHaveLength(2), 20_000);
  const refused = await ask(session);
  expect(refused.statusCode).toBe(529);
  expect(JSON.parse((await readAll(refused)).toString())).toMatchObject({ error: { type: 'overloaded_error' } });
  for (const response of open) response.end('done');
  for (const answer of await Promise.all(first)) expect((await readAll(answer)).toString()).toBe('done');
  const next = ask(session);
  await vi.waitFor(() => expect(open).toHaveLength(3), 20_000);
  open[2]?.end('again');
  expect((await readAll(await next)).toString()).toBe('again');
});

it('[J121] a response that arrives faster than it can be decompressed is not read, and that is reported', () => {
  const heard: GatewayEvent[] = [];
  const who = { sessionId: null, agentId: null, parentAgentId: null, nextId: () => 'request_1' };
  const tap = createAnswerTap({ ...who, onEvent: (event) => heard.push(event), onProblem: () => undefined });
  tap.begin({ statusCode: 200, headers: { ...STREAM, 'content-encoding': 'gzip' } });
  // All at once, so that none of it is decompressed in the meantime.
  tap.push(Buffer.alloc(programLimits.gatewayTapBytesMax));
  expect(eventsOf(heard)).toEqual([{ type: 'requested' }]);
  tap.push(Buffer.alloc(1));
  expect(lastOf(heard)).toMatchObject({ type: 'failed', failure: { reason: 'unreadable' } });
  tap.push(Buffer.alloc(1));
  tap.fail('aborted', 'later');
  expect(heard).toHaveLength(2);
});

it('[J118] the refusal of an endpoint that has not read the whole request is delivered', async () => {
  const { session } = await openWay((request, response) => {
    response.writeHead(413, { 'content-type': 'application/json' }).end('{"too":"large"}');
    // Closing with unread bytes resets the connection, and the response is lost.
    response.on('finish', () => request.resume());
  });
  const answer = await ask(session, { body: Buffer.alloc(32 * MEGABYTE, 'x') });
  expect([answer.statusCode, (await readAll(answer)).toString()]).toEqual([413, '{"too":"large"}']);
});
