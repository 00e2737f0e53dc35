import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';

/** A git host on loopback: `git http-backend` behind tokens. */
export interface GitServer {
  /** `http://127.0.0.1:1234` */
  readonly origin: string;
  /** The received requests, such as `GET /team/app.git/info/refs?service=git-upload-pack`. */
  readonly requests: readonly string[];
  /** Creates a bare repository with a commit on `main` and returns its URL, without `.git`. */
  addRepository(path: string, files: Readonly<Record<string, string>>): string;
  /** Runs git in a bare repository of the host. */
  git(path: string, ...args: readonly string[]): string;
  /** Grants a right in a repository to a token, or with null to every client. */
  allow(path: string, token: string | null, right: Right): void;
  /** The bytes of all responses. */
  bytesSent: number;
  /** Called before each request is handled, for example to delay it. */
  onRequest: ((request: IncomingMessage) => Promise<void>) | undefined;
}

type Right = 'read' | 'write' | 'forbidden';

/** Opens a git host for one test. */
export async function openGitServer(): Promise<GitServer> {
  const root = mkdtempSync(join(tmpdir(), 'fleetloom-git-'));
  const rights = new Map<string, Map<string | null, Right>>();
  const requests: string[] = [];
  const host: Pick<GitServer, 'onRequest' | 'bytesSent'> = { onRequest: undefined, bytesSent: 0 };
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    void (host.onRequest?.(request) ?? Promise.resolve()).then(() => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(root, { recursive: true, force: true });
  });
  // The address of a TCP server is an `AddressInfo`.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', origin);
    const [, path = '', service = ''] = /^\/(.*?)\.git\/(.*)$/.exec(url.pathname) ?? [];
    const known = rights.get(path);
    const [, given] = /^Basic (.*)$/.exec(request.headers.authorization ?? '') ?? [];
    const token =
      given === undefined
        ? null
        : Buffer.from(given, 'base64')
            .toString()
            .replace(/^x-access-token:/, '');
    const right = known?.get(token) ?? known?.get(null);
    const isPush = service === 'git-receive-pack' || url.searchParams.get('service') === 'git-receive-pack';
    if (known === undefined) return void response.writeHead(404).end('none');
    // Imitates a careless host that repeats the token in its response.
    if (right === undefined) return void response.writeHead(401, { 'www-authenticate': 'Basic' }).end(`no: ${token}`);
    if (right === 'forbidden' || (isPush && right === 'read')) return void response.writeHead(403).end(`no: ${token}`);
    runBackend(root, url, request, response).on('data', (chunk: Buffer) => (host.bytesSent += chunk.length));
  }

  return Object.assign(host, {
    origin,
    requests,
    addRepository: (path: string, files: Readonly<Record<string, string>>) => {
      const bare = join(root, `${path}.git`);
      mkdirSync(bare, { recursive: true });
      runGit(bare, 'init', '--bare', '--quiet', '--initial-branch=main');
      runGit(bare, 'config', 'http.receivepack', 'true');
      runGit(bare, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
      const work = mkdtempSync(join(tmpdir(), 'fleetloom-git-work-'));
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(work, name)), { recursive: true });
        writeFileSync(join(work, name), text);
      }
      runGit(work, 'init', '--quiet', '--initial-branch=main');
      runGit(work, 'add', '--all');
      runGit(work, 'commit', '--quiet', '--allow-empty', '--message=first');
      runGit(work, 'push', '--quiet', bare, 'main');
      rmSync(work, { recursive: true });
      rights.set(path, rights.get(path) ?? new Map());
      return `${origin}/${path}`;
    },
    git: (path: string, ...args: readonly string[]) => runGit(join(root, `${path}.git`), ...args),
    allow: (path: string, token: string | null, right: Right) => {
      const known = rights.get(path) ?? new Map<string | null, Right>();
      rights.set(path, known.set(token, right));
    },
  });
}

/** Runs git as a person would, without the configuration of this machine. */
export function runGit(directory: string, ...args: readonly string[]): string {
  const identity = ['user.name=Ada', 'user.email=ada@example.com', 'protocol.file.allow=always'].flatMap((each) => [
    '-c',
    each,
  ]);
  const env = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  return execFileSync('git', [...identity, ...args], { cwd: directory, env, encoding: 'utf8', stdio: 'pipe' }).trim();
}

function runBackend(root: string, url: URL, request: IncomingMessage, response: ServerResponse): Readable {
  const { headers } = request;
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_NOSYSTEM: '1',
      REMOTE_USER: 'committer',
      REQUEST_METHOD: request.method,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
      HTTP_GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => undefined);
  let head = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    if (response.headersSent) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const lines = head
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(/: (.*)/) as [string, string]);
    const status = Number(lines.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200);
    response.writeHead(status, Object.fromEntries(lines.filter(([name]) => name !== 'Status')));
    response.write(head.subarray(end + 4));
  });
  child.stdout.on('end', () => response.end());
  return child.stdout;
}
