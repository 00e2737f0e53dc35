import { createSocket } from 'node:dgram';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import { expect, it, onTestFinished } from 'vitest';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { compositionLimits } from '../limits.ts';
import { type AuditOutput, openAuditOutput } from './audit-output.ts';
import { createSyslog, parseSyslogTarget, toSyslogMessage } from './syslog.ts';

/** A daemon that listens on TCP or a socket file, and reads messages by their length. */
async function startDaemon(path?: string) {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    let rest = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const space = rest.indexOf(' ');
        const length = Number(rest.subarray(0, space).toString());
        if (space === -1 || rest.length < space + 1 + length) return;
        received.push(rest.subarray(space + 1, space + 1 + length).toString());
        rest = rest.subarray(space + 1 + length);
      }
    });
  });
  const listen = (where: number | string) => new Promise<void>((resolve) => server.listen(where, resolve));
  await listen(path ?? 0);
  const { port } = (server.address() ?? {}) as AddressInfo;
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(stop);
  return { received, port, stop, start: () => listen(path ?? port) };
}

async function openLog(output: AuditOutput) {
  const store = createMemoryStore();
  const run = await openAuditOutput(store, 'test', output);
  onTestFinished(() => output.close());
  const append = (action: string, details = {}) =>
    store.audit.append([{ workspaceId: 'w', data: { action, by: { type: 'system' }, target: null, details } }]);
  return { store, run, append };
}

const HEADER = /^<109>1 (\S+) (\S+) fleetloom (\d+) (\S+) - (\{.*\})$/s;

function read(message: string | undefined) {
  const [, time, host, pid, id, json = 'null'] = HEADER.exec(message ?? '') ?? [];
  return { time, host, pid, id, entry: JSON.parse(json) as FleetAuditEntry };
}

it('[ID66] entries are syslog messages of RFC 5424, over TCP, a stream socket and as datagrams', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-syslog-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'log');
  const [tcp, unix] = [await startDaemon(), await startDaemon(path)];
  const datagrams: string[] = [];
  const udp = createSocket('udp4', (message) => void datagrams.push(message.toString()));
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => void udp.close());
  const targets = [
    { address: `tcp://127.0.0.1:${tcp.port}`, received: tcp.received },
    { address: `unix:${path}`, received: unix.received },
    { address: `udp://127.0.0.1:${udp.address().port}`, received: datagrams },
  ];
  for (const { address, received } of targets) {
    const { run, append } = await openLog(createSyslog(parseSyslogTarget(address)));
    await append('login.started', { text: 'a\nb ü “' });
    await append('agent.created');
    await run();
    await expect.poll(() => received.length).toBe(2);
    const { time, host, pid, id, entry } = read(received[0]);
    expect([host, pid, id]).toEqual([hostname(), String(process.pid), 'login.started']);
    expect(entry).toMatchObject({ seq: 1, recorded_at: time, entry: { details: { text: 'a\nb ü “' } } });
    expect(read(received[1]).id).toBe('agent.created');
    await run();
    await append('agent.updated');
    await run();
    await expect.poll(() => received.map((each) => read(each).entry.seq)).toEqual([1, 2, 3]);
  }
});

it('[ID66] entries that were written to a connection which broke are sent again, in order, and no entry is left out', async () => {
  const daemon = await startDaemon();
  const output = createSyslog(parseSyslogTarget(`tcp://127.0.0.1:${daemon.port}`));
  const { run, append } = await openLog(output);
  await append('one');
  await run();
  await expect.poll(() => daemon.received.length).toBe(1);
  await run();
  await append('two');
  await run();
  await daemon.stop();
  await append('three');
  await expect.poll(() => output.isIntact!()).toBe(false);
  await expect(run()).rejects.toThrow();
  daemon.received.length = 0;
  await daemon.start();
  await expect
    .poll(
      async () =>
        await run().then(
          () => true,
          () => false,
        ),
    )
    .toBe(true);
  await expect.poll(() => daemon.received.map((each) => read(each).entry.entry.action)).toEqual(['two', 'three']);
});

it('[ID120] entries of a connection that breaks before those of the next workspace are written are sent again', async () => {
  const { store, written, run, breakNext } = await openBreaking();
  await store.audit.append(['w1', 'w2'].map((workspaceId) => ({ workspaceId, data: { action: 'a' } })));
  breakNext();
  await run();
  await run();
  await run();
  expect(written).toEqual(['w1', 'w1', 'w2']);
});

it('[ID66] a daemon that accepts and reads nothing is given up, and the log does not wait for it', async () => {
  const daemon = createServer((socket) => void socket.pause());
  await new Promise<void>((resolve) => daemon.listen(0, resolve));
  onTestFinished(() => void daemon.close());
  const address = `tcp://127.0.0.1:${(daemon.address() as AddressInfo).port}`;
  const output = createSyslog(parseSyslogTarget(address), 100);
  const entry = toEntry('x'.repeat(50_000));
  // More than all buffers in between hold.
  const writing = output.write(Array.from({ length: 400 }, () => entry));
  await expect(writing).rejects.toThrow();
  expect(output.isIntact!()).toBe(false);
  expect(compositionLimits.syslogStallMs).toBe(2_000);
});

it('[ID66] an entry that does not fit into a message is sent without its details', () => {
  const message = (length: number) => read(toSyslogMessage(toEntry('x'.repeat(length))).toString()).entry.entry;
  const fixed = toSyslogMessage(toEntry('')).length;
  expect(message(compositionLimits.syslogBytesMax - fixed).details).toBeDefined();
  expect(message(compositionLimits.syslogBytesMax - fixed + 1)).toEqual({
    action: 'a',
    by: { type: 'system' },
    target: null,
    is_shortened: true,
  });
});

it('[ID66] addresses of daemons are checked at the start', () => {
  expect(parseSyslogTarget('udp://log.example.com')).toEqual({ type: 'udp', host: 'log.example.com', port: 514 });
  expect(parseSyslogTarget('tcp://[::1]:6514')).toEqual({ type: 'tcp', host: '::1', port: 6514 });
  expect(parseSyslogTarget('unix:/run/log')).toEqual({ type: 'unix', path: '/run/log' });
  for (const wrong of [
    '',
    'log',
    'http://a',
    'udp://',
    'udp://a:0',
    'tcp://a:65536',
    'tcp://a/b',
    'unix:log',
    'tcp://u@a',
  ]) {
    expect(() => parseSyslogTarget(wrong)).toThrow('is not an address of a syslog daemon');
  }
});

function toEntry(text: string): FleetAuditEntry {
  const data = { action: 'a', by: { type: 'system' } as const, target: null, details: { text } };
  const recorded_at = '2026-01-01T00:00:00.000Z';
  return { type: 'audit_entry', workspace_id: 'w', seq: 1, recorded_at, entry: data, hash: 'h' };
}

/** An output that opens a new connection when the one before is broken, as syslog does. */
async function openBreaking() {
  const store = createMemoryStore();
  const written: string[] = [];
  let [isBroken, breaks] = [false, false];
  const output: AuditOutput = {
    name: 'syslog',
    isIntact: () => !isBroken,
    write: async (entries) => {
      written.push(...entries.map(({ workspace_id: id }) => id));
      [isBroken, breaks] = [breaks, false];
    },
    close: () => {},
  };
  const run = await openAuditOutput(store, 'syslog', output);
  return { store, written, run, breakNext: () => void (breaks = true) };
}
