import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, TLSSocket } from 'node:tls';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type FleetloomServer, startServer } from '../../../packages/server/src/server.ts';
import { Database } from '../../../packages/server/src/store/postgres/database.ts';
import { type DatabaseTls, toDatabaseConnection } from '../../../packages/server/src/store/postgres/database-tls.ts';

const fixture = (name: string) => new URL(`../../../fixtures/tls/${name}`, import.meta.url);
const read = (name: string) => readFile(fixture(name), 'utf8');

async function withTls(
  run: (test: { server: FleetloomServer; problems: unknown[]; cert: string; key: string }) => Promise<void>,
  clientCa?: string,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-tls-'));
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  await copyFile(fixture('server.pem'), cert);
  await copyFile(fixture('server-key.pem'), key);
  const problems: unknown[] = [];
  const onProblem = (problem: unknown) => problems.push(problem);
  const server = await startServer({ dataDirectory: join(directory, 'data'), tls: { cert, key, clientCa }, onProblem });
  try {
    await run({ server, problems, cert, key });
  } finally {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  }
}

interface Visit {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly cert?: string;
  readonly key?: string;
}

async function visit({ port }: FleetloomServer, { path = '/healthz', headers = {}, ...client }: Visit = {}) {
  const ca = await read('ca.pem');
  return await new Promise<{ status: number; serial: string; cookie: string; text: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, ca, agent: false, ...client }, (response) => {
      const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate();
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        const [cookie = ''] = response.headers['set-cookie'] ?? [];
        resolve({ status: response.statusCode!, serial: serialNumber, cookie, text });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

it('[ID10] a server with certificates is reached by https with TLS 1.2 or newer, its links are https and its cookies Secure', () =>
  withTls(async ({ server }) => {
    expect(server.url).toBe(`https://127.0.0.1:${server.port}`);
    expect((await visit(server)).text).toContain('ok');
    const link = new URL(await server.dashboardUrl());
    expect(link.protocol).toBe('https:');
    const { cookie } = await visit(server, { path: `${link.pathname}${link.search}` });
    expect(cookie).toMatch(/; Secure$/);
    // The name of the certificate is accepted as Host, and plain http is not answered.
    expect((await visit(server, { headers: { host: `localhost:${server.port}` } })).status).toBe(200);
    await expect(fetch(`http://127.0.0.1:${server.port}/healthz`)).rejects.toThrow();
    const ca = await read('ca.pem');
    const old = connect({ host: '127.0.0.1', port: server.port, ca, maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' });
    await expect(
      new Promise((resolve, reject) => old.on('secureConnect', resolve).on('error', reject)),
    ).rejects.toThrow();
    expect((await visit(server)).status).toBe(200);
  }));

it('[ID11] replaced certificates are used without a restart, and broken ones leave the old ones in use and are reported once', () =>
  withTls(async ({ server, problems, cert, key }) => {
    const before = (await visit(server)).serial;
    await writeFile(cert, 'not a certificate');
    await vi.waitFor(() => expect(String(problems)).toContain(`${cert} is not a certificate in PEM`), 10_000);
    expect((await visit(server)).serial).toBe(before);
    await expect(server.reloadTls()).rejects.toMatchObject({ code: 'tls_unusable' });
    expect((await visit(server)).serial).toBe(before);
    // A certificate whose key has not arrived yet is not used either.
    await copyFile(fixture('renewed.pem'), cert);
    await expect(server.reloadTls()).rejects.toThrow('is not the private key of the certificate');
    expect((await visit(server)).serial).toBe(before);
    await copyFile(fixture('renewed-key.pem'), key);
    await vi.waitFor(async () => expect((await visit(server)).serial).not.toBe(before), 10_000);
  }));

it('[ID12] certificates that cannot be used are an error of the start that names the file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-tls-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const [cert, key] = [fixture('server.pem').pathname, fixture('server-key.pem').pathname];
  const other = fixture('renewed-key.pem').pathname;
  for (const [tls, message] of [
    [{ cert: '/nonexistent.pem', key }, 'the certificate /nonexistent.pem cannot be read: ENOENT'],
    [{ cert: key, key }, `${key} is not a certificate in PEM`],
    [{ cert, key: other }, `${other} is not the private key of the certificate ${cert}`],
    [{ cert, key, clientCa: key }, `${key} is not a certificate authority in PEM`],
  ] as const) {
    await expect(startServer({ dataDirectory: directory, tls })).rejects.toThrow(message);
  }
});

it('[ID13] with a client authority only clients with its certificate are let in, and others do not hold up a stop', () =>
  withTls(async ({ server }) => {
    const client = { cert: await read('client.pem'), key: await read('client-key.pem') };
    expect((await visit(server, client)).status).toBe(200);
    await expect(visit(server)).rejects.toThrow();
    const idle = connect({ host: '127.0.0.1', port: server.port, ca: await read('ca.pem'), ...client });
    await new Promise((resolve) => idle.on('secureConnect', resolve));
    idle.on('error', () => {});
  }, fixture('ca.pem').pathname));

/** Speaks the first bytes of the protocol of PostgreSQL with TLS, and notes whether a client went on after the handshake. */
async function fakeDatabase() {
  const received: string[] = [];
  const [cert, key] = [await read('server.pem'), await read('server-key.pem')];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (first) => {
      if (first.readInt32BE(4) !== 80877103) {
        received.push('in the clear');
        return socket.destroy();
      }
      socket.write('S');
      const secure = new TLSSocket(socket, { isServer: true, cert, key });
      secure.on('error', () => {});
      secure.once('data', () => {
        received.push('encrypted');
        secure.destroy();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { received, port: (server.address() as AddressInfo).port };
}

it('[ID14] the certificate of a database on another machine is verified, and only the option switches that off', async () => {
  const { received, port } = await fakeDatabase();
  // An address that leads here and is not one that always means this machine.
  const open = async (query: string, tls?: DatabaseTls) => {
    received.length = 0;
    const url = `postgres://user@0.0.0.0:${port}/fleet${query}`;
    const opening = Database.open({ url, schema: 'fleetloom', patienceMs: 0, tls });
    const message = await opening.then(
      () => 'opened',
      (error: unknown) => String(error),
    );
    return [received[0] ?? 'nothing', message] as const;
  };
  const ca = `?sslrootcert=${encodeURIComponent(fixture('ca.pem').pathname)}`;
  expect((await open(''))[0]).toBe('nothing');
  expect((await open(''))[1]).toContain('unable to verify the first certificate');
  expect((await open(ca))[0]).toBe('encrypted');
  expect((await open('', 'unverified'))[0]).toBe('encrypted');
  expect((await open('', 'off'))[0]).toBe('in the clear');
  for (const weak of ['?sslmode=disable', '?sslmode=no-verify', '?sslmode=prefer', '?ssl=false']) {
    expect(await open(weak)).toEqual(['nothing', expect.stringContaining('--database-tls')]);
  }
  // An address counts as itself, not as `localhost`, which the driver would compare.
  const { ssl } = toDatabaseConnection('postgres://user@192.0.2.1/fleet');
  const check = (ssl as { checkServerIdentity: (host: string, certificate: object) => Error | undefined })
    .checkServerIdentity;
  expect(check('localhost', { subject: {}, subjectaltname: 'DNS:localhost' })).toBeInstanceOf(Error);
  expect(check('localhost', { subject: {}, subjectaltname: 'IP Address:192.0.2.1' })).toBeUndefined();
  for (const local of ['localhost', '127.0.0.1', '[::1]', '']) {
    const url = `postgres://${local === '' ? '' : `user@${local}`}/fleet?host=${local === '' ? '/run/postgresql' : ''}`;
    expect(toDatabaseConnection(url.replace(/\?host=$/, '')).ssl).toBeUndefined();
  }
});
