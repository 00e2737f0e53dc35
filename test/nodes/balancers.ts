import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { repositoryRoot } from '../support/root.ts';
import type { Cluster } from './cluster.ts';

/** A documented load balancer with the file of docs/scaling that it is started with. */
export interface Balancer {
  readonly program: 'nginx' | 'haproxy';
  readonly file: string;
  readonly toConfig: (text: string, port: number, nodes: readonly string[]) => string;
  readonly toArgs: (path: string, directory: string) => readonly string[];
}

const balancers: readonly Balancer[] = [
  {
    program: 'nginx',
    file: 'nginx.conf',
    toConfig: (text, port, nodes) =>
      text
        .replace(/^ *resolver .*\n/m, '')
        .replace(/^( *)server node:4280 resolve (.*)$/m, (_, indent: string, rest: string) =>
          nodes.map((node) => `${indent}server ${node} ${rest}`).join('\n'),
        )
        .replace('listen 80;', `listen 127.0.0.1:${port};`)
        .replace(
          'http {',
          `http {\n  access_log off;\n${TEMPORARY.map((name) => `  ${name}_temp_path t;`).join('\n')}`,
        ),
    toArgs: (path, directory) => [
      '-p',
      directory,
      '-c',
      path,
      '-g',
      `daemon off; pid ${path}.pid; error_log ${path}.log;`,
    ],
  },
  {
    program: 'haproxy',
    file: 'haproxy.cfg',
    toConfig: (text, port, nodes) =>
      text
        .replace(/^ *server node\d .*\n/gm, '')
        .concat(nodes.map((node, index) => `  server node${index} ${node}\n`).join(''))
        .replace('bind :80', `bind 127.0.0.1:${port}`)
        .replace('hdr Host fleet.example.com', 'hdr Host 127.0.0.1'),
    toArgs: (path) => ['-db', '-f', path],
  },
];

/** Debian has both programs in /usr/sbin, which is not on the path of every user. */
export const PATH = { PATH: `${process.env['PATH']}:/usr/sbin:/usr/local/sbin` };
export const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

const isInstalled = ({ program }: Balancer) => spawnSync(program, ['-v'], { env: PATH }).error === undefined;
export const installed = balancers.filter(isInstalled);
export const missing = balancers.filter((each) => !isInstalled(each));
/** Starts a load balancer in front of the nodes; its files are in the directory. */
export async function withBalancer(
  { program, file, toConfig, toArgs }: Balancer,
  cluster: Cluster,
  directory: string,
  run: (url: string) => Promise<void>,
): Promise<void> {
  const port = await findFreePort();
  const text = await readFile(join(repositoryRoot, 'docs', 'scaling', file), 'utf8');
  const path = join(directory, `${port}-${file}`);
  await writeFile(
    path,
    toConfig(
      text,
      port,
      cluster.nodes.map(({ url }) => new URL(url).host),
    ),
  );
  const child = spawn(program, toArgs(path, directory), { env: PATH, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const url = `http://127.0.0.1:${port}`;
  try {
    await expect.poll(() => (child.exitCode === null ? isReady(url) : stderr), { timeout: 20_000 }).toBe(true);
    await run(url);
  } finally {
    await end(child);
  }
}

const isReady = (url: string) =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
