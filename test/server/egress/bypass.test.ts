import { once } from 'node:events';
import { createSocket } from 'node:dgram';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createAuthority } from '../../../packages/server/src/egress/authority.ts';
import {
  limited,
  openEgressBench,
  openOrigin,
  PUBLIC,
  world,
} from '../../../packages/server/src/egress/egress.suite.ts';
import { createInterception } from '../../../packages/server/src/egress/intercept-tunnel.ts';
import { isLong, randomText } from '../../support/seed.ts';
import { noSandbox, openBench } from '../../../packages/server/src/tools/toolbox.suite.ts';
import { listAttempts, type Outside, PRIVATE_ADDRESSES, REDIRECTS } from './bypass-attempts.suite.ts';

// A sandbox is started, and a busy machine takes its time for what runs in it.
vi.setConfig({ testTimeout: 300_000 });

const PROGRAM = new URL('./bypass-program.suite.mjs', import.meta.url);

it.skipIf(noSandbox !== undefined)(
  '[EG200] more than 400 attempts to leave a sandbox reach nothing: by sockets, names, proxies, other forms of a host, and requests in requests',
  async () => {
    const { received, ...outside } = await openOutside();
    const redirect = (at: number) => REDIRECTS[at]!.replace('PORT', String(outside.port));
    const allowed = [
      await openOrigin({}, (request, response) => {
        const [, at] = /^\/redirect\/(\d+)$/.exec(request.url ?? '') ?? [];
        if (at !== undefined) response.writeHead(302, { location: redirect(Number(at)) });
        response.end('allowed');
      }),
      await openOrigin({ name: 'a.example' }),
      await openOrigin({ name: 'c.example' }),
    ] as const;
    const [plain, secure, opened] = allowed;
    const egress = await openEgressBench({
      networking: limited('a.example', 'c.example', '*.priv.example'),
      resolve: (name) => [PRIVATE_ADDRESSES[Number(/^p(\d+)\.priv\.example$/.exec(name)?.[1])] ?? PUBLIC],
      ports: { 'a.example:80': plain.port, 'a.example:443': secure.port, 'c.example:443': opened.port },
      trusted: world.certificate,
      more: {
        interception: createInterception({
          credentials: { findFor: async (host) => (host === 'c.example' ? [CREDENTIAL] : []) },
          authority: createAuthority(),
          trust: createSecureContext({ ca: world.certificate }),
          log: { refuse: () => undefined },
          onProblem: (problem) => void problems.push(problem),
        }),
      },
    });
    const problems = egress.problems;
    const mounts = { isWritable: true, readOnlyPaths: [], writablePaths: [], egress: egress.sandbox };
    const shell = openBench({ networking: limited('a.example'), openMounts: async () => mounts });
    shell.put('attempt.mjs', readFileSync(PROGRAM));
    const run = async (attempts: object) => {
      shell.put('attempts.json', JSON.stringify(attempts));
      const { text } = await shell.run('bash', {
        command: 'node attempt.mjs attempts.json > out.txt',
        timeout_ms: 280_000,
      });
      expect(text).toBe('(no output)');
      const file = readFileSync(join(shell.workspace, 'out.txt'), 'utf8');
      return file
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { name: string; received: string });
    };

    const all = Object.entries(listAttempts(outside));
    expect(all.length).toBeGreaterThan(400);
    // A quarter of each kind, another one in each run.
    const first = randomText().below(4);
    const attempts = Object.fromEntries(all.filter((_, at) => isLong || at % 4 === first));
    const results = await run(attempts);
    expect(results.map(({ name }) => name).toSorted()).toEqual(Object.keys(attempts).toSorted());
    for (const { name, received: answer } of results) expect([name, answer.includes('OUTSIDE')]).toEqual([name, false]);
    expect(received).toEqual([]);
    for (const { host, ...target } of egress.dialled.map(toDialled)) {
      expect(target.address).toBe(PUBLIC);
      expect(['a.example:80', 'a.example:443', 'c.example:443']).toContain(host);
    }
    const seen = allowed.flatMap((origin) => origin.seen);
    const wrong = seen.filter(
      ({ url, headers }) => !/^(?:[ac]\.example(?::443)?)$/.test(headers.host ?? '') || url.includes('MARK'),
    );
    expect(wrong.map(({ method, url, headers }) => [method, url, headers.host])).toEqual([]);
    expect(problems).toEqual([]);

    // What is allowed arrives, and what is outside would have been seen.
    const control = {
      kind: 'tls',
      to: 'c.example:443',
      servername: 'c.example',
      text: 'GET /control HTTP/1.1\r\nHost: c.example\r\nConnection: close\r\n\r\n',
    };
    expect(await run({ control, plain: { kind: 'shell', command: 'curl -sS http://a.example/control' } })).toHaveLength(
      2,
    );
    expect(allowed.flatMap((origin) => origin.seen).filter(({ url }) => url === '/control')).toHaveLength(2);
    const reached = await fetch(`http://127.0.0.1:${outside.port}/MARK`).then((response) => response.text(), String);
    expect([reached.length > 0, received.join(' ')]).toEqual([true, expect.stringContaining('MARK')]);
  },
);

const CREDENTIAL = {
  id: 'vcrd_1',
  placeholder: `flph_${'a'.repeat(40)}`,
  isInHeaders: true,
  isInBodies: true,
  readSecret: async () => 'sk-canary',
};

function toDialled(text: string): { readonly host: string; readonly address: string } {
  const [host = '', address = ''] = text.split(' ');
  return { host, address };
}

/** Servers of this machine that greet every client with `OUTSIDE`, and what they have received. */
async function openOutside(): Promise<Outside & { readonly received: string[] }> {
  const received: string[] = [];
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-outside-')));
  const take = (bytes: Buffer) => void received.push(bytes.toString('latin1'));
  const servers: Server[] = [];
  const listen = async (...at: [number, string] | [string]) => {
    const server = createServer((socket) => {
      received.push('a connection');
      socket.on('error', () => socket.destroy()).on('data', (bytes) => (take(bytes), socket.end()));
      socket.write('HTTP/1.1 200 OUTSIDE\r\nConnection: close\r\n\r\nOUTSIDE');
    });
    servers.push(server);
    if (at.length === 1) server.listen(at[0]);
    else server.listen(at[0], at[1]);
    await once(server, 'listening');
    return server.address();
  };
  const { port } = (await listen(0, '::')) as AddressInfo;
  const socketPath = join(directory, 'outside.sock');
  await listen(socketPath);
  const abstractName = `fleetloom-outside-${process.pid}`;
  await listen(`\u0000${abstractName}`);
  const datagrams = createSocket('udp6').on('message', take);
  datagrams.bind(port, '::');
  await once(datagrams, 'listening');
  const foreign = await openEgressBench();
  onTestFinished(async () => {
    datagrams.close();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    rmSync(directory, { recursive: true, force: true });
  });
  const addresses = Object.values(networkInterfaces()).flatMap((each = []) => each);
  const ownAddress = addresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.3';
  return { received, port, socketPath, abstractName, foreignProxy: foreign.socketPath, ownAddress };
}
