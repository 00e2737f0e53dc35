import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type FleetloomServer, type ServerOptions, startServer } from '../../../packages/server/src/server.ts';
import {
  CLIENT,
  TestBrowser,
  type TestProvider,
} from '../../../packages/server/src/single-sign-on/openid-provider.suite.ts';

/** Where browsers reach the server; requests go to one of its nodes. */
export const PUBLIC_URL = 'http://127.0.0.1:9';

/** Grants for the groups of the tests. */
export const GRANTS = [
  { groups: ['admins'], role: 'admin' },
  { groups: ['staff'], role: 'operator' },
  { groups: ['guests'], role: 'viewer', workspace: 'wrkspc_guests' },
];

/** An issuer of the configuration. */
export function toIssuer({ issuer }: TestProvider, id: string, fields: object = {}): object {
  const secret = { client_secret_env: 'FLEETLOOM_TEST_OIDC_SECRET' };
  return { id, name: `The ${id}`, issuer, client_id: CLIENT.id, ...secret, grants: GRANTS, ...fields };
}

/** A directory with a configuration and the sign-in page. Removed after the test. */
export async function writeOidcFiles(issuers: readonly object[], fields: object = {}) {
  process.env['FLEETLOOM_TEST_OIDC_SECRET'] = CLIENT.secret;
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-oidc-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const [oidcConfigFile, dashboardDirectory] = [join(directory, 'oidc.json'), directory];
  await writeFile(oidcConfigFile, JSON.stringify({ public_url: PUBLIC_URL, issuers, ...fields }));
  await copyFile(new URL('../../../packages/web/login.html', import.meta.url), join(directory, 'login.html'));
  await writeFile(join(directory, 'index.html'), 'the dashboard');
  return { oidcConfigFile, dashboardDirectory };
}

/** A server with providers, and what it reports. */
export interface SignOnServer {
  readonly server: FleetloomServer;
  readonly key: string;
  readonly problems: string[];
  readonly browser: () => TestBrowser;
  /** A request with a key or a cookie; the response as JSON. */
  readonly ask: (path: string, init?: AskOptions) => Promise<{ readonly status: number; readonly body: Answer }>;
  readonly restart: (options: Partial<ServerOptions>) => Promise<SignOnServer>;
}

export interface AskOptions {
  readonly method?: string;
  readonly cookie?: string;
  readonly body?: object;
}

/** Tests read what they expect. */
type Answer = ReturnType<typeof JSON.parse>;

/** Starts a server with providers; closed after the test. */
export async function startSignOnServer(options: Partial<ServerOptions>, known?: { directory: string; key: string }) {
  const directory = known?.directory ?? (await mkdtemp(join(tmpdir(), 'fleetloom-sign-on-')));
  const problems: string[] = [];
  const onProblem = (problem: unknown) => void problems.push(String(problem));
  const server = await startServer({ dataDirectory: directory, onProblem, ...options });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await server.close();
    isOpen = false;
  };
  onTestFinished(async () => {
    await close();
    await rm(directory, { recursive: true, force: true });
  });
  const key = known?.key ?? server.firstKey!;
  const self: SignOnServer = {
    server,
    key,
    problems,
    browser: () => new TestBrowser(PUBLIC_URL, server.url),
    ask: async (path, { method = 'GET', cookie, body } = {}) => {
      const caller: Record<string, string> =
        cookie === undefined ? { 'x-api-key': key } : { cookie: toNode(cookie, server.port), origin: server.url };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const headers = { ...caller, ...(body && { 'content-type': 'application/json' }) };
      const response = await fetch(`${server.url}${path}`, { method, headers, ...sent });
      return { status: response.status, body: await response.json().catch(() => undefined) };
    },
    restart: async (others) => {
      await close();
      return await startSignOnServer({ ...options, ...others }, { directory, key });
    },
  };
  return self;
}

/** The cookie under the name that another node has for it, which is on another port. */
export function toNode(cookie: string, port: number): string {
  return cookie.replaceAll(/fleetloom_\d+/g, `fleetloom_${port}`);
}
