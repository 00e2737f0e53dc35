import { spawn, spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@fleetloom/server';
import { expect, it, onTestFinished } from 'vitest';
import { repositoryRoot } from '../support/root.ts';
import { end, findFreePort, PATH, TEMPORARY } from './balancers.ts';

const isInstalled = spawnSync('nginx', ['-v'], { env: PATH }).error === undefined;

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** nginx with the documented file, changed only where this machine needs it, in front of a server. */
async function open() {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-proxy-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const fixture = (name: string) => join(repositoryRoot, 'fixtures', 'tls', name);
  for (const name of ['server.pem', 'server-key.pem']) await copyFile(fixture(name), join(directory, name));
  const [port, plainPort] = [await findFreePort(), await findFreePort()];
  const server = await startServer({
    dataDirectory: join(directory, 'data'),
    trustedProxies: ['127.0.0.1'],
    allowedHosts: ['fleet.example.com'],
  });
  onTestFinished(() => server.close());
  const text = await readFile(join(repositoryRoot, 'docs', 'scaling', 'nginx-tls.conf'), 'utf8');
  const config = text
    .replace('listen 80;', `listen 127.0.0.1:${plainPort};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
    .replace(/\/etc\/letsencrypt\/.*fullchain\.pem/, join(directory, 'server.pem'))
    .replace(/\/etc\/letsencrypt\/.*privkey\.pem/, join(directory, 'server-key.pem'))
    .replace('http://127.0.0.1:4280', server.url)
    .replace('/var/log/nginx/fleetloom.log', join(directory, 'access.log'))
    .replace('http {', `http {\n${TEMPORARY.map((name) => `  ${name}_temp_path t;`).join('\n')}`);
  const path = join(directory, 'nginx.conf');
  await writeFile(path, config);
  const globals = `daemon off; pid ${path}.pid; error_log ${path}.log;`;
  const child = spawn('nginx', ['-p', directory, '-c', path, '-g', globals], { env: PATH, stdio: 'inherit' });
  onTestFinished(() => end(child));
  const ca = await readFile(fixture('ca.pem'));
  const ask = (to: string, { method = 'GET', headers = {}, body = '' }: Asked = {}) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      // From an address of its own, so that it is not taken for that of the proxy; the certificate is for localhost.
      const host = { host: `fleet.example.com:${port}` };
      const options = {
        ca,
        port,
        servername: 'localhost',
        host: '127.0.0.1',
        localAddress: '127.0.0.2',
        path: to,
        method,
        agent: false,
      } as const;
      const sent = request({ ...options, headers: { ...host, ...headers } }, resolve);
      sent.on('error', reject);
      sent.end(body);
    });
  const isReady = () => ask('/readyz').then(({ statusCode }) => statusCode, String);
  await expect.poll(isReady, { timeout: 20_000 }).toBe(200);
  return { server, directory, port, plainPort, ask };
}

async function readJson(response: IncomingMessage) {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString() || 'null') as Record<string, unknown>;
}

it.skipIf(!isInstalled)(
  '[ID69] nginx with the documented file serves the server over https, with the addresses of clients',
  async () => {
    const { server, directory, port, plainPort, ask } = await open();
    const key = { 'x-api-key': server.firstKey! };
    const json = { ...key, 'content-type': 'application/json' };
    const redirect = await fetch(`http://127.0.0.1:${plainPort}/v1/agents`, { redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('location')]).toEqual([301, 'https://127.0.0.1/v1/agents']);

    const stream = await ask('/v1/fleet?from=live', { headers: key });
    expect([stream.statusCode, stream.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000']);
    // The beginning of the stream arrives without more bytes behind it.
    const [first] = await new Promise<[Buffer]>((resolve) => stream.once('data', (chunk: Buffer) => resolve([chunk])));
    expect(first.length).toBeGreaterThan(0);
    stream.destroy();

    const form = new FormData();
    form.set('file', new Blob(['x'.repeat(3_000_000)]), 'large.txt');
    const encoded = new Response(form);
    const upload = { method: 'POST', body: Buffer.from(await encoded.arrayBuffer()) };
    const type = encoded.headers.get('content-type')!;
    const file = await ask('/v1/files', { ...upload, headers: { ...key, 'content-type': type } });
    expect([file.statusCode, await readJson(file)]).toMatchObject([200, { size_bytes: 3_000_000 }]);

    const link = await readJson(await ask('/v1/login_links', { method: 'POST', headers: json, body: '{}' }));
    const forged = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' };
    const visit = await ask(link['path'] as string, { headers: forged });
    const [cookie = ''] = visit.headers['set-cookie'] ?? [];
    visit.resume();
    expect([visit.statusCode, cookie]).toEqual([200, expect.stringMatching(/; HttpOnly; SameSite=Strict; Secure$/)]);
    const session = { cookie: cookie.split(';')[0]! };
    const body = JSON.stringify({ name: 'a', model: 'scripted/echo' });
    const from = { ...session, origin: `https://fleet.example.com:${port}`, 'content-type': 'application/json' };
    expect((await readJson(await ask('/v1/agents', { method: 'POST', headers: from, body })))['type']).toBe('agent');
    const logins = (await readJson(await ask('/v1/fleet/logins', { headers: key })))['data'];
    expect(logins).toMatchObject([{ address: '127.0.0.2' }]);
    const { data } = (await readJson(await ask('/v1/fleet/audit', { headers: key }))) as { data: { entry: object }[] };
    expect(data.at(-1)!.entry).toMatchObject({ action: 'agent.created', address: '127.0.0.2' });
    // The log of the proxy has no code of a link.
    const log = await readFile(join(directory, 'access.log'), 'utf8');
    expect(log).toContain('"GET /login" 200');
    expect(log).not.toContain('code=');
  },
);
