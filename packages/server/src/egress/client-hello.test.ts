import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { connect } from 'node:tls';
import { expect, it } from 'vitest';
import { HELLO_BYTES_MAX, readClientHello } from './client-hello.ts';
import { readClientStart } from './read-client-start.ts';

/** What the TLS of Node begins with. */
async function captureHello(servername?: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const taken = once(server, 'connection').then(async ([socket]) => (await once(socket, 'data'))[0] as Buffer);
  const named = servername === undefined ? {} : { servername };
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', ...named });
  client.on('error', () => undefined);
  const bytes = await taken;
  client.destroy();
  server.close();
  return bytes;
}

/** Cuts the handshake into records of this size. */
function cut(bytes: Buffer, size: number): Buffer {
  const handshake = bytes.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < handshake.length; at += size) {
    const part = handshake.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

/** Adds an extension behind the others. */
function extend(bytes: Buffer, type: number, content: Buffer): Buffer {
  const added = Buffer.concat([
    Buffer.from([type >> 8, type & 255, content.length >> 8, content.length & 255]),
    content,
  ]);
  const changed = Buffer.concat([bytes, added]);
  changed.writeUInt16BE(changed.length - 5, 3);
  changed.writeUIntBE(changed.length - 9, 6, 3);
  // The length of all extensions stands behind version, random, session, ciphers and compression.
  const session = 9 + 2 + 32;
  const ciphers = session + 1 + changed[session]!;
  const compression = ciphers + 2 + changed.readUInt16BE(ciphers);
  const extensions = compression + 1 + changed[compression]!;
  changed.writeUInt16BE(changed.length - extensions - 2, extensions);
  return changed;
}

it('[EG5] the name in a ClientHello is read however it is cut into records and pieces', async () => {
  const bytes = await captureHello('a.example');
  const hello = { type: 'hello', serverName: 'a.example', hasEncryptedHello: false };
  for (const size of [1, 7, 100, 10_000]) {
    const records = cut(bytes, size);
    expect(readClientHello(records)).toEqual(hello);
    for (let end = 0; end < records.length; end += 13) {
      const { type, missing = 0 } = readClientHello(records.subarray(0, end)) as { type: string; missing?: number };
      expect([type, missing > 0 && missing <= records.length - end]).toEqual(['incomplete', true]);
    }
  }
  expect(readClientHello(await captureHello())).toEqual({ ...hello, serverName: undefined });
});

it('[EG5] a second name, an encrypted one and fields that lead out of the message are found', async () => {
  const bytes = await captureHello('a.example');
  const name = (text: string) => {
    const entry = Buffer.concat([Buffer.from([0, 0, text.length]), Buffer.from(text)]);
    return Buffer.concat([Buffer.from([0, entry.length]), entry]);
  };
  expect(readClientHello(extend(bytes, 0, name('b.example')))).toEqual({ type: 'other' });
  expect(readClientHello(extend(bytes, 0xfe0d, Buffer.alloc(8)))).toMatchObject({ hasEncryptedHello: true });
  const long = Buffer.from(bytes);
  long.writeUInt16BE(0xffff, 9 + 2 + 32 + 1 + 32);
  expect(readClientHello(long)).toEqual({ type: 'other' });
  for (const text of ['GET / HTTP/1.1', 'SSH-2.0-x', '\x16\x02\x01', '\x15\x03\x01\x00\x02\x01\x00']) {
    expect([text, readClientHello(Buffer.from(text, 'latin1'))]).toEqual([text, { type: 'other' }]);
  }
  expect(readClientHello(Buffer.from([22, 3, 1, 0, 0]))).toEqual({ type: 'other' });
});

it('[U602] a ClientHello that arrives byte by byte in records of one byte takes little processor time', async () => {
  const record = Buffer.from([22, 3, 1, 0, 1, 1]);
  // Of 16,383 bytes, so that it never ends within what is read.
  const header = Buffer.concat([1, 0, 0x3f, 0xff].map((byte) => Buffer.from([22, 3, 1, 0, 1, byte])));
  const bytes = Buffer.concat([header, ...Array.from({ length: HELLO_BYTES_MAX / 2 }, () => record)]);
  const near = new PassThrough({ readableHighWaterMark: bytes.length });
  const reading = readClientStart(near as unknown as Socket, Buffer.alloc(0));
  const before = process.cpuUsage();
  for (const byte of bytes) near.write(Buffer.from([byte]));
  expect(await reading).toEqual({ type: 'other' });
  const { user, system } = process.cpuUsage(before);
  // It took 25 s when each piece was read with all before it.
  expect((user + system) / 1_000).toBeLessThan(3_000);
});

it('[EG5] a ClientHello of 16,384 bytes is read, and a longer one is not waited for', async () => {
  const bytes = await captureHello('a.example');
  const room = HELLO_BYTES_MAX + 9 - bytes.length - 4;
  expect(cut(extend(bytes, 21, Buffer.alloc(room)), 4_096)).toSatisfy(
    (all: Buffer) => readClientHello(all).type === 'hello',
  );
  expect(readClientHello(cut(extend(bytes, 21, Buffer.alloc(room + 1)), 4_096))).toEqual({ type: 'other' });
  expect(HELLO_BYTES_MAX).toBe(16_384);
});

it('[EG5] no bytes make the reader throw', async () => {
  const bytes = await captureHello('a.example');
  for (let at = 0; at < bytes.length; at++) {
    for (const value of [0, 1, 0x7f, 0xff]) {
      const changed = Buffer.from(bytes);
      changed[at] = value;
      expect(['hello', 'other', 'incomplete']).toContain(readClientHello(changed).type);
    }
  }
});
