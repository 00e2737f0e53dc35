import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { codeOf } from '../../store/suite/samples.suite.ts';
import { toolLimits } from '../limits.ts';
import { openBench } from '../toolbox.suite.ts';
import { HostResolver } from './host-resolver.ts';

vi.setConfig({ testTimeout: 60_000 });

it('[U200] a name is resolved by name servers to its addresses of both versions, and search domains are not applied', async () => {
  vi.stubEnv('LOCALDOMAIN', 'search.test');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { resolver, asked } = await openNameServer({
    'both.test': ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
    'four.test': ['192.0.2.3'],
    'six.test': ['2001:db8::2'],
    'short.search.test': ['192.0.2.4'],
  });
  const resolve = resolver.forSession();
  // Both versions are among the first, because a machine may have only one of them.
  expect(await resolve('both.test')).toEqual(['192.0.2.1', '2001:db8::1', '192.0.2.2']);
  expect(await resolve('Four.Test.')).toEqual(['192.0.2.3']);
  expect(await resolve('six.test')).toEqual(['2001:db8::2']);
  for (const name of ['short', 'none.test', `${'x'.repeat(64)}.test`]) {
    expect([name, await codeOf(resolve(name))]).toEqual([name, 'ENOTFOUND']);
  }
  expect(new Set(asked)).toEqual(new Set(['both.test', 'four.test', 'six.test', 'short', 'none.test']));
});

it('[U201] lookups that are not answered occupy no thread, end after 6 s, and at most 4 of a session and 64 of the server are under way', async () => {
  const { resolver, asked } = await openNameServer({});
  const session = resolver.forSession();
  const startedAt = performance.now();
  const own = Array.from({ length: 6 }, (_, index) => codeOf(session(`own${index}.slow.test`)));
  await expect.poll(() => new Set(asked).size).toBe(4);
  const others = Array.from({ length: 16 }, () => resolver.forSession());
  const more = others.flatMap((resolve, at) =>
    Array.from({ length: 4 }, (_, index) => codeOf(resolve(`other${at}-${index}.slow.test`))),
  );
  await expect.poll(() => new Set(asked).size).toBe(64);
  // The resolver of the operating system, which model requests use, answers at once.
  const before = performance.now();
  await lookup('localhost');
  expect(performance.now() - before).toBeLessThan(1_000);
  await wait(500);
  expect(new Set(asked).size).toBe(64);
  expect(await Promise.all(own.slice(0, 4))).toEqual(Array.from({ length: 4 }, () => 'ETIMEOUT'));
  expect(performance.now() - startedAt).toBeLessThan(toolLimits.dnsLookupMs + 3_000);
  await expect.poll(() => asked.some((name) => name === 'own5.slow.test'), { timeout: 10_000 }).toBe(true);
  resolver.close();
  await Promise.all([...own, ...more]);
  expect([toolLimits.dnsLookupMs, toolLimits.dnsLookupsPerSessionMax, toolLimits.dnsLookupsMax]).toEqual([
    6_000, 4, 64,
  ]);
});

it('[U202] an abort or the end of the server cancels a lookup, and the next one takes its place', async () => {
  const { resolver, asked } = await openNameServer({ 'known.test': ['192.0.2.1'] });
  const resolve = resolver.forSession();
  const stop = new AbortController();
  const names = Array.from({ length: 6 }, (_, index) => `n${index}.slow.test`);
  const slow = names.map((name) => resolve(name, stop.signal).catch((error: Error) => error));
  await expect.poll(() => new Set(asked).size).toBe(4);
  const next = resolve('known.test');
  const startedAt = performance.now();
  stop.abort();
  for (const error of await Promise.all(slow)) expect(error).toBeInstanceOf(Error);
  expect(await next).toEqual(['192.0.2.1']);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  const last = codeOf(resolve('last.slow.test'));
  await expect.poll(() => asked.includes('last.slow.test')).toBe(true);
  resolver.close();
  await last;
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  await expect(resolve('more.slow.test')).rejects.toThrow();
  expect(asked).not.toContain('more.slow.test');
});

it('[U202] an interrupted web_fetch cancels its lookup', async () => {
  const { resolver, asked } = await openNameServer({ 'known.test': ['127.0.0.1'] });
  const { run } = openBench({ resolveHost: resolver.forSession() });
  const stop = new AbortController();
  const slow = Array.from({ length: 4 }, (_, index) =>
    run('web_fetch', { url: `http://n${index}.slow.test/` }, { signal: stop.signal }),
  );
  await expect.poll(() => new Set(asked).size).toBe(4);
  stop.abort();
  await Promise.all(slow);
  const startedAt = performance.now();
  expect((await run('web_fetch', { url: 'http://known.test/' })).text).toContain('not on the public internet');
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

it('[U203] names in the hosts file and localhost are resolved without a name server, and a change counts after 5 s', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-hosts-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const hostsPath = join(directory, 'hosts');
  writeFileSync(hostsPath, '10.0.0.1\tDocs.internal docs # note other\n::1 docs.internal\nnonsense x\n# 10.0.0.2 no\n');
  const clock = createManualClock();
  const { resolver, asked } = await openNameServer({}, { hostsPath, clock });
  const resolve = resolver.forSession();
  expect(await resolve('docs.internal')).toEqual(['10.0.0.1', '::1']);
  expect(await resolve('DOCS.')).toEqual(['10.0.0.1']);
  expect(await resolve('localhost')).toEqual(['127.0.0.1', '::1']);
  expect(await resolve('a.localhost')).toEqual(['127.0.0.1', '::1']);
  expect(asked).toEqual([]);
  for (const name of ['note', 'x', 'no']) expect(await codeOf(resolve(name))).toBe('ENOTFOUND');
  writeFileSync(hostsPath, '10.0.0.9 docs.internal\n127.0.0.2 localhost');
  clock.advance(toolLimits.hostsFileCheckMs - 1);
  expect(await resolve('docs.internal')).toEqual(['10.0.0.1', '::1']);
  clock.advance(1);
  expect([await resolve('docs.internal'), await resolve('localhost')]).toEqual([['10.0.0.9'], ['127.0.0.2']]);
  rmSync(hostsPath);
  clock.advance(toolLimits.hostsFileCheckMs);
  expect(await codeOf(resolve('docs.internal'))).toBe('ENOTFOUND');
  expect(toolLimits.hostsFileCheckMs).toBe(5_000);
});

it('[U203] a private address of the hosts file is connected to only where the operator allows the name', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-hosts-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const hostsPath = join(directory, 'hosts');
  writeFileSync(hostsPath, '127.0.0.1 docs.internal');
  const { resolver } = await openNameServer({}, { hostsPath });
  const fetchFrom = async (allowedPrivateHosts: string[]) =>
    (
      await openBench({ resolveHost: resolver.forSession(), allowedPrivateHosts }).run('web_fetch', {
        url: 'http://docs.internal:1/',
      })
    ).text;
  expect(await fetchFrom([])).toContain('not on the public internet');
  expect(await fetchFrom(['docs.internal'])).toContain('ECONNREFUSED');
});

it('[U204] the addresses of 1,000 names are reused for 30 s, or shorter if the name server says so', async () => {
  const clock = createManualClock();
  const { resolver, asked } = await openNameServer(
    { 'long.test': ['192.0.2.1'], 'short.test': ['192.0.2.2'] },
    { clock, ttls: { 'long.test': 3_600, 'short.test': 2 } },
  );
  const resolve = resolver.forSession();
  const countOf = (name: string) => asked.filter((each) => each === name).length;
  const askBoth = async () => {
    await resolve('long.test');
    await resolve('short.test');
    // Each is asked for both versions.
    return [countOf('long.test') / 2, countOf('short.test') / 2];
  };
  expect([await askBoth(), await askBoth()]).toEqual([
    [1, 1],
    [1, 1],
  ]);
  clock.advance(2_000);
  expect(await askBoth()).toEqual([1, 2]);
  clock.advance(toolLimits.dnsCacheMs - 2_001);
  expect(await askBoth()).toEqual([1, 3]);
  clock.advance(1);
  expect(await askBoth()).toEqual([2, 3]);
  // What cannot be resolved is asked for again.
  for (let count = 0; count < 2; count++) await codeOf(resolve('none.test'));
  expect(countOf('none.test')).toBe(4);
  expect([toolLimits.dnsCacheMs, toolLimits.dnsCacheEntriesMax]).toEqual([30_000, 1_000]);
});

it('[U204] the name that was resolved longest ago is forgotten first', async () => {
  const { resolver, asked } = await openNameServer(() => ['192.0.2.1'], { clock: createManualClock() });
  const resolve = resolver.forSession();
  for (let index = 0; index <= toolLimits.dnsCacheEntriesMax; index++) await resolve(`n${index}.test`);
  asked.splice(0);
  await resolve('n1.test');
  expect(asked).toEqual([]);
  await resolve('n0.test');
  expect(asked).toEqual(['n0.test', 'n0.test']);
});

type Zone = Readonly<Record<string, readonly string[]>>;
interface NameServerOptions {
  readonly hostsPath?: string;
  readonly clock?: ReturnType<typeof createManualClock>;
  /** In seconds. */
  readonly ttls?: Readonly<Record<string, number>>;
}

/** A resolver with a name server of its own, which never answers for names below slow.test. */
async function openNameServer(zone: Zone | (() => readonly string[]), options: NameServerOptions = {}) {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    const { name, type, end } = readQuestion(message);
    asked.push(name);
    if (name.endsWith('slow.test')) return;
    const all = typeof zone === 'function' ? zone() : (zone[name] ?? []);
    const wanted = all.filter((each) => isIPv4(each) === (type === 1));
    const header = Buffer.from(message.subarray(0, end));
    header.writeUInt16BE(all.length === 0 ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(wanted.length, 6);
    header.fill(0, 8, 12);
    const ttl = options.ttls?.[name] ?? 60;
    socket.send(Buffer.concat([header, ...wanted.map((each) => toRecord(each, ttl))]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { hostsPath = '/nonexistent/hosts', clock } = options;
  const resolver = new HostResolver({ servers: [`127.0.0.1:${socket.address().port}`], hostsPath, clock });
  onTestFinished(() => {
    resolver.close();
    socket.close();
  });
  return { resolver, asked };
}

function readQuestion(message: Buffer) {
  const labels: string[] = [];
  let at = 12;
  while (message[at] !== 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + message[at]!));
    at += message[at]! + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function toRecord(address: string, ttl: number): Buffer {
  const bytes = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : toBytes(address);
  const record = Buffer.alloc(12);
  // The name of the question, the type, the class, the time to live, the length.
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(isIPv4(address) ? 1 : 28, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(ttl, 6);
  record.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([record, bytes]);
}

/** An address such as 2001:db8::1. */
function toBytes(address: string): Buffer {
  const [first = [], last = []] = address.split('::').map((part) => part.split(':'));
  const groups = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => '0'), ...last];
  return Buffer.concat(groups.map((group) => Buffer.from(group.padStart(4, '0'), 'hex')));
}
