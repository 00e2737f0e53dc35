import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { baseLimits } from '../../packages/server/src/base/limits.ts';
import { httpLimits } from '../../packages/server/src/http/limits.ts';
import { type FleetloomServer, startServer } from '../../packages/server/src/server.ts';
import { expectHarmless } from '../support/expect-harmless.ts';

// Hostile request bodies of a client with a valid key.

let server: FleetloomServer;
const directory = mkdtempSync(join(tmpdir(), 'fleetloom-foreign-'));

beforeAll(async () => {
  server = await startServer({ dataDirectory: directory, onProblem: () => {} });
  for (let round = 0; round < 3; round++) await post('/v1/agents', '{}');
});

afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('JSON', () => {
  const MIB = 1024 * 1024;

  it.each([
    ['brackets', () => '['.repeat(8 * MIB), 400, 'nested more than 600 levels'],
    ['objects', () => `[${'{},'.repeat(8 * MIB)}0]`, 400, 'more than 50000 values'],
    ['zeros', () => `{"a":[${'0,'.repeat(12 * MIB)}0]}`, 400, 'more than 50000 values'],
    ['wide text', () => `{"a":"${'\u{1f600}'.repeat(7 * MIB)}"}`, 400, 'name: is missing'],
    ['newlines', () => `{"a":"${'\\n'.repeat(15 * MIB)}"}`, 400, 'name: is missing'],
  ] as const)(
    '[W91] %s of many megabytes are answered without blocking the event loop',
    async (name, toBody, status, reason) => {
      const bytes = Buffer.from(toBody());
      const answer = await expectHarmless(name, async () => await post('/v1/agents', bytes), {
        grownMibMax: 320,
        stallMsMax: 100,
      });
      expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(reason)]);
      expect([baseLimits.bodyValuesMax, baseLimits.bodyDepthMax]).toEqual([50_000, 600]);
    },
  );

  it('[W91] the scripted model refuses such bodies too', async () => {
    const body = Buffer.from(`{"a":[${'{},'.repeat(4 * MIB)}0]}`);
    const answer = await expectHarmless('scripted', async () => await post('/scripted/v1/messages', body));
    expect(answer.status).toBe(400);
  });

  it('[W91] a body at the limits is parsed', async () => {
    const values = `{"a":[0${',0'.repeat(baseLimits.bodyValuesMax - 3)}]}`;
    const depth = `{"a":${'['.repeat(baseLimits.bodyDepthMax - 1)}${']'.repeat(baseLimits.bodyDepthMax - 1)}}`;
    for (const body of [values, depth]) expect((await post('/v1/agents', body)).text).toContain('name: is missing');
    expect((await post('/v1/agents', values.replace('[', '[0,'))).status).toBe(400);
    expect((await post('/v1/agents', depth.replace('[', '[[').replace(']', ']]'))).status).toBe(400);
  });

  it.each(['/v1/agents', '/scripted/v1/messages'])(
    '[W92] a key has at most 128 MiB of bodies under way to %s, and the server continues',
    async (path) => {
      const sockets: Socket[] = [];
      const rest = 4;
      for (let count = 0; count < 4; count++) {
        const socket = await begin(`content-length: ${32 * MIB}`, path);
        sockets.push(socket);
        await send(socket, Buffer.alloc(32 * MIB - rest, 'x'));
      }
      await wait(500);
      // Four bodies are held except for a few bytes, so the fifth has no room.
      const fifth = await begin(`content-length: ${MIB}`, path);
      const answered = once(fifth, 'data') as Promise<[Buffer]>;
      await send(fifth, Buffer.alloc(MIB, 'x'));
      expect((await answered)[0].toString()).toMatch(
        /^HTTP\/1\.1 429 [\s\S]*bodies of this key have more than 134217728/,
      );
      for (const socket of [...sockets, fifth]) socket.destroy();
      await expect.poll(async () => (await post('/v1/agents', '{}')).status).toBe(400);
      await expect.poll(async () => (await post('/v1/agents', Buffer.alloc(2 * MIB, ' '))).status).toBe(400);
      expect([httpLimits.bodiesPerKeyBytesMax, httpLimits.bodiesBytesMax]).toEqual([134_217_728, 536_870_912]);
    },
  );

  it('[W94] a body in chunks of one byte takes no more memory than its bytes, and does not block the event loop', async () => {
    // Three million chunks that were kept would take more than 400 MiB, and those of a paused request 100.
    const options = { grownMibMax: 64, stallMsMax: 100 };
    await expectHarmless(
      'single bytes',
      async () => {
        const socket = await begin('transfer-encoding: chunked');
        const chunk = Buffer.from('1\r\nx\r\n'.repeat(10_000));
        for (let count = 0; count < 300; count++) await send(socket, chunk);
        socket.destroy();
      },
      options,
    );
  });
});

describe('forms', () => {
  it.each([
    [
      'a long preamble',
      () => 'x'.repeat(httpLimits.uploadPreambleBytesMax + 100),
      'bytes are before the first part of the form',
    ],
    ['many parts', () => part('a').repeat(httpLimits.uploadPartsMax + 2), 'is not an expected part'],
    ['long headers', () => `--b\r\n${'x-a: y\r\n'.repeat(2_000)}\r\n1\r\n--b--`, 'the headers of a part are too long'],
    ['nothing but boundaries', () => '--b\r\n'.repeat(100_000), 'a part has no headers'],
    ['half boundaries', () => `--b\r\n${NAMED}\r\n\r\n${'\r\n--'.repeat(200_000)}`, 'ends in the middle of a part'],
  ] as const)('[W93] %s', async (name, toBody, reason) => {
    const type = 'multipart/form-data; boundary=b';
    const body = Buffer.from(toBody());
    const answer = await expectHarmless(name, async () => await post('/v1/files', body, type));
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(reason)]);
    expect([httpLimits.uploadPartsMax, httpLimits.uploadPreambleBytesMax]).toEqual([16, 8_192]);
  });
});

const NAMED = 'content-disposition: form-data; name="file"; filename="f"';

function part(name: string): string {
  return `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n1\r\n`;
}

/** With node:http, because fetch copies bodies, which would be counted. */
async function post(path: string, body: string | Buffer, type = 'application/json') {
  const headers = { authorization: `Bearer ${server.firstKey}`, 'content-type': type };
  const sent = request(`${server.url}${path}`, { method: 'POST', headers, agent: false });
  // A refused body is not read to its end.
  sent.on('error', () => {}).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, text: await text(response).catch(() => '') };
}

/** A request whose body is still to come. */
async function begin(header: string, path = '/v1/agents'): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${server.firstKey}\r\n` +
      `content-type: application/json\r\n${header}\r\n\r\n`,
  );
  return socket;
}

async function send(socket: Socket, bytes: Buffer): Promise<void> {
  if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
}
