import { resolve } from 'node:path';
import {
  type DatabaseTls,
  FleetloomError,
  type KeepAudit,
  listPrograms,
  type ServerOptions,
  startServer,
} from '@fleetloom/server';
import { toDataDirectory } from '../connection/data-directory.ts';
import { rememberServer } from '../connection/local-server.ts';
import { drain } from './drain.ts';
import { installLastResort } from './last-resort.ts';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { toDatabaseTls, toTlsFiles, type TlsOptions } from './network-options.ts';
import type { LogForm } from './log-forms.ts';
import { createRequestLines } from './request-lines.ts';
import { type EndingSignal, waitForSignal } from '../base/until-signal.ts';
import { toPasted } from '../base/to-pasted.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';
import { describePrograms, type ProgramOptions, toClaudeCode, toOtherPrograms, toProgramNames } from './programs.ts';

/** Options of `serve`. */
export interface ServeOptions extends ProgramOptions, TlsOptions {
  port?: number;
  host?: string;
  data?: string;
  scripts?: string;
  modelBaseUrl?: string;
  /** Whether requests need no API key. Only on loopback. */
  open?: boolean;
  unsandboxedBash?: boolean;
  /** Private hosts that agents may reach, as `host` or `host:port`. */
  allowPrivateHost?: string[];
  /** Directories below which sessions may work. */
  allowDirectory?: string[];
  /** Hosts besides github.com that sessions may clone from. */
  gitHost?: string[];
  /** Which git pushes of agents are allowed. */
  gitPush?: 'none' | 'no-delete' | 'all';
  /** Which hosts commands can reach through the egress proxy. */
  bashNetwork?: 'none' | 'limited' | 'open';
  /** Restricts web_fetch to the hosts of environments. */
  strictNetwork?: boolean;
  /** Registries that environments may open. */
  packageHost?: string[];
  /** File with certificates of additional authorities. */
  egressCa?: string;
  /** Largest file whose changes are recorded, in megabytes. */
  snapshotFileMb?: number;
  /** URLs that receive session changes. */
  webhook?: string[];
  json?: boolean;
  /** Requests per second of each API key, on average. */
  rateLimit?: number;
  /** Format of the request log on standard error. */
  log?: LogForm;
  /** File with the master key of stored secrets. */
  masterKeyFile?: string;
  /** URL of a PostgreSQL database that several nodes share. */
  database?: string;
  /** URL of the same database that bypasses a pooler. */
  databaseListen?: string;
  databaseTls?: DatabaseTls;
  /** File with the OpenID providers at which people sign in. */
  oidcConfig?: string;
  /** Where entries of the audit log are written, in addition to the database. */
  audit?: 'stdout';
  auditSyslog?: string;
  keepAudit?: KeepAudit;
  /** Directory for workspaces that every node can access. */
  sharedWorkspaces?: string;
  maxSessions?: number;
  /** How long sessions wait for the node with their workspace, in seconds. */
  workspaceWait?: number;
  /** Accepted values of the Host header. */
  allowHost?: string[];
  /** Reverse proxies whose forwarded addresses count. */
  trustedProxies?: string[];
  /** Open connections in total, and from one address. */
  connections?: number;
  connectionsPerAddress?: number;
  /** How long requests are still served after SIGTERM while `/readyz` reports `stopping`. */
  drainSeconds?: number;
  /** How long deltas are kept after their turn ended. */
  keepDeltas?: ServerOptions['keepDeltas'];
}

/** `fleetloom serve`: runs the server in this process until a signal arrives. */
export async function serve(io: Io, options: ServeOptions): Promise<number> {
  // With certificates, SIGHUP reloads them and does not stop the server, as in other servers.
  const stopped = waitForSignal(io, options.tlsCert === undefined ? undefined : ['SIGINT', 'SIGTERM']);
  const dataDirectory = toDataDirectory(io.env, options.data);
  const server = await startServerHere(io, options, dataDirectory);
  if (options.tlsCert !== undefined) io.onSignal('SIGHUP', () => reloadTls(io, server));
  const uninstall = installLastResort(io, server);
  await rememberServer(dataDirectory, { ...server, programs: toProgramNames(options) });
  await writeText(
    io.stdout,
    options.json === true ? toJson(options, server, dataDirectory) : toText(io, options, server, dataDirectory),
  );
  const signal: EndingSignal = await stopped;
  const drainSeconds = signal === 'SIGTERM' ? toDrainSeconds(io, options) : 0;
  const drained = drain(io, server, drainSeconds);
  if (options.json !== true) await writeText(io.stderr, toStopping(drainSeconds));
  await drained;
  await server.close();
  uninstall();
  return signal === 'SIGINT' || signal === 'SIGTERM' ? exitCode.ok : exitCode[signal];
}

function reloadTls(io: Io, server: Server): void {
  server.reloadTls().then(
    () => void io.stderr.write('The certificates were read again.\n'),
    (error: unknown) => void io.stderr.write(`The certificates stay as they are: ${String(error)}\n`),
  );
}

/** How long to drain. By default only with a shared database, because then a load balancer can send requests to other nodes. */
function toDrainSeconds(io: Io, options: ServeOptions): number {
  const isShared = toDatabase(options, io.env['FLEETLOOM_DATABASE']) !== undefined;
  return options.drainSeconds ?? (isShared ? limits.drainSecondsShared : 0);
}

function toStopping(drainSeconds: number): string {
  return drainSeconds === 0
    ? 'Stopping …\n'
    : `Stopping in ${drainSeconds} s; press Ctrl-C or send SIGTERM again to stop now …\n`;
}

type DatabaseOptions = Pick<ServeOptions, 'database' | 'sharedWorkspaces'>;

type Server = Awaited<ReturnType<typeof startServer>>;

/** Starts the server in this process, configured by options and environment. */
export async function startServerHere(io: Io, options: ServeOptions, dataDirectory: string): Promise<Server> {
  const { env } = io;
  const database = toDatabase(options, env['FLEETLOOM_DATABASE']);
  const log = createRequestLines({
    form: options.log ?? 'off',
    write: (line) => void io.stderr.write(line),
    now: () => Date.now(),
  });
  if (options.unsandboxedBash === true) log.onError(UNSANDBOXED_BASH, '');
  try {
    return await startServer({
      dataDirectory,
      host: options.host ?? env['HOST'],
      port: options.port ?? toPort(env['PORT']) ?? DEFAULT_PORT,
      isOpen: options.open,
      database,
      databaseListen: options.databaseListen ?? (env['FLEETLOOM_DATABASE_LISTEN'] || undefined),
      databaseTls: toDatabaseTls(env, options.databaseTls),
      tls: toTlsFiles(options),
      oidcConfigFile: options.oidcConfig === undefined ? undefined : resolve(options.oidcConfig),
      keepAudit: options.keepAudit,
      auditSyslog: options.auditSyslog,
      onAuditEntry:
        options.audit === undefined ? undefined : (entry) => void io.stdout.write(`${JSON.stringify(entry)}\n`),
      secret: env['FLEETLOOM_SECRET'] || undefined,
      masterKey: env['FLEETLOOM_MASTER_KEY'] || undefined,
      masterKeyFile: options.masterKeyFile === undefined ? undefined : resolve(options.masterKeyFile),
      olderMasterKeys: env['FLEETLOOM_MASTER_KEY_OLD'] || undefined,
      sharedWorkspaces: options.sharedWorkspaces === undefined ? undefined : resolve(options.sharedWorkspaces),
      busySessionsMax: options.maxSessions,
      homeGoneMs: options.workspaceWait === undefined ? undefined : options.workspaceWait * 1_000,
      allowedHosts: options.allowHost,
      trustedProxies: options.trustedProxies,
      connectionsMax: options.connections,
      connectionsPerAddressMax: options.connectionsPerAddress,
      scriptsDirectory: options.scripts === undefined ? undefined : resolve(options.scripts),
      allowUnsandboxedBash: options.unsandboxedBash,
      allowedPrivateHosts: options.allowPrivateHost,
      allowedDirectories: options.allowDirectory?.map((path) => resolve(path)),
      gitHosts: options.gitHost,
      gitPush: options.gitPush,
      bashNetwork: options.bashNetwork,
      strictNetwork: options.strictNetwork,
      packageHosts: options.packageHost,
      egressCa: options.egressCa === undefined ? undefined : resolve(options.egressCa),
      snapshotFileBytesMax: options.snapshotFileMb === undefined ? undefined : options.snapshotFileMb * 1024 * 1024,
      keepDeltas: options.keepDeltas,
      claudeCode: toClaudeCode(options),
      programs: toOtherPrograms(options, listPrograms()),
      webhooks: toWebhooks(env, options.webhook),
      // Clients start with several requests at once: a burst of one second's worth is allowed.
      ...(options.rateLimit === undefined
        ? {}
        : { rateLimit: { perSecond: options.rateLimit, burst: options.rateLimit } }),
      log,
      // Problems have the format of the request log, so that one parser can read all of standard error.
      onProblem: (problem) => log.onError(problem, ''),
      ...toModels(env, options.modelBaseUrl),
    });
  } catch (error) {
    if (!(error instanceof FleetloomError)) throw error;
    if (error.code === 'master_key_missing') {
      throw new CommandError(exitCode.failed, error.message, 'docs/vaults.md describes where the key comes from.');
    }
    throw new UsageError(error.message, '"fleetloom serve --help" lists the options.');
  }
}

const UNSANDBOXED_BASH =
  '--unsandboxed-bash: without bubblewrap, agents run commands as your user, with access to your files and network.';
const DEFAULT_PORT = 4280;

/** The model endpoint, from the variables that every client of it uses. */
export function toModels(env: Io['env'], given: string | undefined) {
  const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_AUTH_TOKEN: authToken, ANTHROPIC_BASE_URL: known } = env;
  const baseURL = given ?? known;
  const endpoint = baseURL === undefined || baseURL === '' ? {} : { baseURL };
  if (apiKey !== undefined && apiKey !== '') return { models: { credential: { apiKey }, ...endpoint } };
  if (authToken !== undefined && authToken !== '') return { models: { credential: { authToken }, ...endpoint } };
  return {};
}

/** The signing key has its own variable: ANTHROPIC_WEBHOOK_SIGNING_KEY may belong to another service here. */
function toWebhooks(env: Io['env'], urls: readonly string[] | undefined) {
  return urls === undefined ? undefined : { urls, signingKey: env['FLEETLOOM_WEBHOOK_SIGNING_KEY'] || undefined };
}

/** The origins of the webhooks. Their paths and queries are often secret. */
export function toWebhookOrigins(urls: readonly string[] = []): string {
  return [...new Set(urls.map((url) => new URL(url).origin))].join(', ');
}

/** The URL of the database: --database, else FLEETLOOM_DATABASE. Undefined: SQLite. */
export function toDatabase(
  { database, sharedWorkspaces }: DatabaseOptions,
  known: string | undefined,
): string | undefined {
  const url = database ?? (known === '' ? undefined : known);
  if (url === undefined && sharedWorkspaces !== undefined) {
    throw new UsageError('--shared-workspaces works only with a shared database.', 'Pass --database as well.');
  }
  if (url === undefined || /^postgres(ql)?:\/\//.test(url)) return url;
  // The value may contain a password, so it is not printed.
  throw new UsageError('The database is not a PostgreSQL URL.', 'Write it as postgres://user:password@host/name.');
}

function toPort(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(
    `PORT is "${text}", which is not a port number.`,
    'Set it to a number from 0 to 65535, or pass --port.',
  );
}

function toJson({ webhook }: ServeOptions, { url, port, firstKey, webhookKey }: Server, data: string): string {
  const signing = webhook === undefined ? {} : { webhook_key: webhookKey ?? null };
  return `${JSON.stringify({ url, port, key: firstKey ?? null, data, ...signing })}\n`;
}

function toText(io: Io, options: ServeOptions, { url, firstKey, webhookKey }: Server, data: string): string {
  const { models } = toModels(io.env, undefined);
  const { open = false } = options;
  const programs = describePrograms(options);
  const database = toDatabase(options, io.env['FLEETLOOM_DATABASE']);
  return [
    `Fleetloom listens on ${url}`,
    `  data      ${data}`,
    ...(database === undefined ? [] : [`  database  ${toDatabaseName(database)}`]),
    `  models    ${models === undefined ? 'scripted models only; set ANTHROPIC_API_KEY for others' : 'scripted models and your endpoint'}`,
    ...(programs === undefined ? [] : [`  programs  ${programs}`]),
    ...(open ? ['  key       not required on this machine'] : []),
    ...(firstKey === undefined ? [] : [`  key       ${firstKey}`, '            shown only once: store it now']),
    ...(options.webhook === undefined ? [] : [`  webhooks  ${toWebhookOrigins(options.webhook)}`]),
    ...(webhookKey === undefined
      ? []
      : [
          `  signing   ${webhookKey}`,
          '            shown only once: receivers need it as ANTHROPIC_WEBHOOK_SIGNING_KEY',
        ]),
    toPasted(io, '  dashboard fleetloom open prints a login link, in another terminal'),
    `  SDK       ANTHROPIC_BASE_URL=${url}`,
    '',
  ].join('\n');
}

/** The database without user and password. */
function toDatabaseName(database: string): string {
  const { host, pathname } = new URL(database);
  return `postgres://${host}${pathname}`;
}
