import { resolve } from 'node:path';
import { FleetloomError, startServer } from '@fleetloom/server';
import { toDataDirectory } from '../connection/data-directory.ts';
import { rememberServer } from '../connection/local-server.ts';
import { installLastResort } from '../last-resort.ts';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { createRequestLines, type LogForm } from '../request-lines.ts';
import { type EndingSignal, waitForSignal } from '../until-signal.ts';
import { UsageError } from '../usage-error.ts';
import { writeText } from '../write-text.ts';
import { describePrograms, type ProgramOptions, toClaudeCode, toProgramNames } from './programs.ts';

export interface ServeOptions extends ProgramOptions {
  port?: number;
  host?: string;
  data?: string;
  scripts?: string;
  modelBaseUrl?: string;
  /** No key is asked for. Only on loopback. */
  open?: boolean;
  unsandboxedBash?: boolean;
  /** Private hosts that agents may reach, as `host` or `host:port`. */
  allowPrivateHost?: string[];
  /** Addresses that are told what becomes of sessions. */
  webhook?: string[];
  json?: boolean;
  /** Requests of each key in a second, on average. */
  rateLimit?: number;
  /** What is told of requests, on standard error. */
  log?: LogForm;
  /** A PostgreSQL database that several servers share. */
  database?: string;
  /** The same past a pooler. */
  databaseListen?: string;
  /** A directory that all of them have. */
  sharedWorkspaces?: string;
  maxSessions?: number;
  /** How long sessions wait for the server with their files, in seconds. */
  workspaceWait?: number;
  /** Names by which others call this server. */
  allowHost?: string[];
  /** Connections at the same time, and of one other machine. */
  connections?: number;
  connectionsPerAddress?: number;
}

/** `fleetloom serve`: the server in this process, until a signal ends it. */
export async function serve(io: Io, options: ServeOptions): Promise<number> {
  const asked = waitForSignal(io);
  const dataDirectory = toDataDirectory(io.env, options.data);
  const server = await startHere(io, options, dataDirectory);
  const uninstall = installLastResort(io, server);
  await rememberServer(dataDirectory, { ...server, programs: toProgramNames(options) });
  await writeText(
    io.stdout,
    options.json === true ? toJson(options, server, dataDirectory) : toText(io, options, server, dataDirectory),
  );
  const signal: EndingSignal = await asked;
  if (options.json !== true) await writeText(io.stderr, 'stopping …\n');
  await server.close();
  uninstall();
  return signal === 'SIGINT' || signal === 'SIGTERM' ? exitCode.ok : exitCode[signal];
}

type DatabaseOptions = Pick<ServeOptions, 'database' | 'sharedWorkspaces'>;

type Server = Awaited<ReturnType<typeof startServer>>;

/** The server in this process, as options and environment want it. */
export async function startHere(io: Io, options: ServeOptions, dataDirectory: string): Promise<Server> {
  const { env } = io;
  const database = toDatabase(options, env['FLEETLOOM_DATABASE']);
  if (options.unsandboxedBash === true) io.stderr.write(UNSANDBOXED_BASH);
  try {
    return await startServer({
      dataDirectory,
      host: options.host ?? env['HOST'],
      port: options.port ?? toPort(env['PORT']) ?? DEFAULT_PORT,
      isOpen: options.open,
      database,
      databaseListen: options.databaseListen ?? (env['FLEETLOOM_DATABASE_LISTEN'] || undefined),
      secret: env['FLEETLOOM_SECRET'] || undefined,
      sharedWorkspaces: options.sharedWorkspaces === undefined ? undefined : resolve(options.sharedWorkspaces),
      busySessionsMax: options.maxSessions,
      homeGoneMs: options.workspaceWait === undefined ? undefined : options.workspaceWait * 1_000,
      allowedHosts: options.allowHost,
      connectionsMax: options.connections,
      connectionsPerAddressMax: options.connectionsPerAddress,
      scriptsDirectory: options.scripts === undefined ? undefined : resolve(options.scripts),
      allowUnsandboxedBash: options.unsandboxedBash,
      allowedPrivateHosts: options.allowPrivateHost,
      claudeCode: toClaudeCode(options),
      webhooks: toWebhooks(env, options.webhook),
      // A second's worth at once: clients begin with several requests.
      ...(options.rateLimit === undefined
        ? {}
        : { rateLimit: { perSecond: options.rateLimit, burst: options.rateLimit } }),
      log: createRequestLines({
        form: options.log ?? 'off',
        write: (line) => void io.stderr.write(line),
        now: () => Date.now(),
      }),
      onProblem: (problem) => io.stderr.write(`fleetloom: ${toLine(problem)}\n`),
      ...toModels(env, options.modelBaseUrl),
    });
  } catch (error) {
    if (!(error instanceof FleetloomError)) throw error;
    throw new UsageError(error.message, 'fleetloom serve --help shows what can be set');
  }
}

const UNSANDBOXED_BASH =
  'fleetloom: --unsandboxed-bash: where bubblewrap does not work, agents run commands as your user, with your files and network.\n';
const DEFAULT_PORT = 4280;

/** The upstream is named as every client of it names it. A key of our own server has another name. */
export function toModels(env: Io['env'], given: string | undefined) {
  const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_AUTH_TOKEN: authToken, ANTHROPIC_BASE_URL: known } = env;
  const baseURL = given ?? known;
  const at = baseURL === undefined || baseURL === '' ? {} : { baseURL };
  if (apiKey !== undefined && apiKey !== '') return { models: { credential: { apiKey }, ...at } };
  if (authToken !== undefined && authToken !== '') return { models: { credential: { authToken }, ...at } };
  return {};
}

/** Its receivers know the key by the name that the official client looks for; here that one may be another service's. */
function toWebhooks(env: Io['env'], urls: readonly string[] | undefined) {
  return urls === undefined ? undefined : { urls, signingKey: env['FLEETLOOM_WEBHOOK_SIGNING_KEY'] || undefined };
}

/** Where they are. Their paths and queries are often secret. */
export function toWebhookPlaces(urls: readonly string[] = []): string {
  return [...new Set(urls.map((url) => new URL(url).origin))].join(', ');
}

export function toDatabase(
  { database, sharedWorkspaces }: DatabaseOptions,
  known: string | undefined,
): string | undefined {
  const url = database ?? (known === '' ? undefined : known);
  if (url === undefined && sharedWorkspaces !== undefined) {
    throw new UsageError('--shared-workspaces is for servers that share a database', 'give --database too');
  }
  if (url === undefined || /^postgres(ql)?:\/\//.test(url)) return url;
  // It may hold a password, so it is not repeated.
  throw new UsageError('the database that was given is no address', 'write it as postgres://user:password@host/name');
}

function toPort(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(`PORT is ${text}, which is no port`, 'set it to a number from 0 to 65535, or use --port');
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
    `  data    ${data}`,
    ...(database === undefined ? [] : [`  shares  ${toPlace(database)}`]),
    `  models  ${models === undefined ? 'scripted/… only; set ANTHROPIC_API_KEY for others' : 'scripted/… and your endpoint'}`,
    ...(programs === undefined ? [] : [`  runs    ${programs}`]),
    ...(open ? ['  key     none is asked for on this machine'] : []),
    ...(firstKey === undefined ? [] : [`  key     ${firstKey}`, '          shown only now, keep it']),
    ...(options.webhook === undefined ? [] : [`  tells   ${toWebhookPlaces(options.webhook)}`]),
    ...(webhookKey === undefined
      ? []
      : [`  signs   ${webhookKey}`, '          shown only now: receivers need it as ANTHROPIC_WEBHOOK_SIGNING_KEY']),
    `  try     ANTHROPIC_BASE_URL=${url} with the official SDK`,
    '',
  ].join('\n');
}

/** Where it is, without who may use it. */
function toPlace(database: string): string {
  const { host, pathname } = new URL(database);
  return `postgres://${host}${pathname}`;
}

function toLine(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}
