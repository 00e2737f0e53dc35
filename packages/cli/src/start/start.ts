import type { FleetloomServer } from '@fleetloom/server';
import { DEFAULT_MODEL, toModelName } from '../agents/to-model-name.ts';
import { toDataDirectory } from '../connection/data-directory.ts';
import { type LocalServer, rememberServer } from '../connection/local-server.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { writeDemoScripts } from '../demo-fleet/demo-files.ts';
import { prepareDemoProject, toDemoDirectory } from '../demo-fleet/demo-project.ts';
import { startDemo } from '../demo-fleet/start-demo.ts';
import { demoAgents } from '../demo-fleet/tasks.ts';
import { watchDemo } from '../demo-fleet/watch-demo.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { installLastResort } from '../server/last-resort.ts';
import { findRunning, printLink } from './open-dashboard.ts';
import { openInBrowser } from '../base/open-in-browser.ts';
import { findTop } from '../run/run-workspace.ts';
import { listenForStop } from '../run/stop-listener.ts';
import { detectLook } from '../terminal/look.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';
import { describePrograms, toProgramNames, withOwnPrograms } from '../server/programs.ts';
import { type ServeOptions, startServerHere, toModels, toWebhookOrigins } from '../server/serve.ts';
import { toPasted } from '../base/to-pasted.ts';

/** Options of `start`. */
export interface StartOptions extends ServeOptions {
  /** Number of agents; `mixed`: one on each program; true: the default number; false: no demo, even on the first start. */
  demo?: number | 'mixed' | boolean;
  /** The model of the demo. Undefined: the scripted one. */
  model?: string;
  /** Whether to open the dashboard in a browser. */
  browser?: boolean;
}

/**
 * `fleetloom start`: runs the server, opens the dashboard and, on the first start, runs a demo. All data is kept, so a later
 * start shows the earlier sessions and starts no demo on its own.
 */
export async function start(io: Io, given: StartOptions): Promise<number> {
  const options = withOwnPrograms(given, given.host ?? io.env['HOST']);
  const dataDirectory = toDataDirectory(io.env, options.data);
  const running = await findRunning(dataDirectory);
  if (running !== undefined) {
    const { connection, link } = running;
    if (options.json !== true) {
      io.stderr.write(`Fleetloom is already running at ${connection.url}. This link signs one browser in:\n`);
    }
    return await printLink(io, options, connection, link);
  }
  const ended = listenForStop(io);
  checkMixed(io, options);
  const agents = typeof options.demo === 'boolean' ? demoAgents.normally : (options.demo ?? demoAgents.normally);
  const sized = agents === 'mixed' ? demoAgents.normally : agents;
  const scripts = options.scripts ?? (await writeDemoScripts(dataDirectory, sized));
  const allowDirectory = [...(options.allowDirectory ?? []), toDemoDirectory(dataDirectory), ...findOwnRepository(io)];
  const server = await startServerHere(io, { ...options, scripts, allowDirectory }, dataDirectory);
  const uninstall = installLastResort(io, server);
  try {
    const local = await rememberServer(dataDirectory, { ...server, programs: toProgramNames(options) });
    const api = createServerApi({ url: server.url, key: local.key ?? undefined });
    const hasDemo = await isDemoWanted(api, options);
    const link = toStartLink(await server.dashboardUrl(), hasDemo);
    await writeText(
      io.stdout,
      options.json === true ? toJson(options, server, local, link) : toText(io, options, dataDirectory, server, link),
    );
    if (options.browser !== false && options.json !== true) openInBrowser(io, link);

    if (hasDemo) {
      const project = await prepareDemoProject(dataDirectory);
      const sessionId = await startDemo(api, { agents, model: toDemoModel(io, options), project });
      if (options.json !== true) await watchDemo(io, api, sessionId, ended);
    }
    await ended.whenRequested();
    if (options.json !== true) await writeText(io.stderr, 'Stopping …\n');
  } finally {
    ended.stop();
    await server.close();
    uninstall();
  }
  return ended.signal === 'SIGHUP' ? exitCode.SIGHUP : exitCode.ok;
}

/** Rejects the demo `mixed` with a key or a login: its agents play scripts, which their programs would send to a real model at a cost. */
function checkMixed({ env }: Io, { demo, model, claudeLogin, codexLogin, modelBaseUrl }: StartOptions): void {
  if (demo !== 'mixed') return;
  const isReal = model !== undefined || modelBaseUrl !== undefined || claudeLogin === true || codexLogin === true;
  const keys = KEYS.filter((name) => (env[name] ?? '') !== '');
  if (!isReal && keys.length === 0) return;
  throw new UsageError(
    'The demo "mixed" runs on the scripted model only.',
    keys.length === 0 ? 'Leave out --model and the logins.' : `Start it without ${keys.join(' and ')}.`,
  );
}

const KEYS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'OPENAI_API_KEY'];

/** The link to open: with a demo to the fleet page, which shows the agents at work; otherwise to the list of sessions. */
function toStartLink(link: string, hasDemo: boolean): string {
  if (!hasDemo) return link;
  const url = new URL(link);
  if (url.pathname.endsWith('/login')) url.searchParams.set('page', 'fleet');
  else url.hash = '#/fleet';
  return url.href;
}

/** The repository that the command was started in: its user wants agents to work on it. */
function findOwnRepository(io: Io): readonly string[] {
  const top = findTop(io.cwd);
  return top === undefined ? [] : [top];
}

/** Whether to run the demo: if it is requested, or if the server has never had a session. */
async function isDemoWanted(api: ServerApi, { demo }: StartOptions): Promise<boolean> {
  if (demo !== undefined) return demo !== false;
  const first = await api.list('/v1/sessions', { limit: 1, include_archived: 'true' }).next();
  return first.done === true;
}

/** The model of the demo. Only --model selects a real model, because a configured API key alone must not cost money. */
function toDemoModel(io: Io, { model }: StartOptions): string | undefined {
  if (model === undefined) return undefined;
  return model === '' ? DEFAULT_MODEL : toModelName(model);
}

function toJson(
  { webhook }: StartOptions,
  { url, port, webhookKey }: FleetloomServer,
  { key }: LocalServer,
  dashboard: string,
): string {
  const signing = webhook === undefined ? {} : { webhook_key: webhookKey ?? null };
  return `${JSON.stringify({ url, port, key, dashboard, ...signing })}\n`;
}

function toText(
  io: Io,
  options: StartOptions,
  data: string,
  { url, firstKey, webhookKey }: FleetloomServer,
  link: string,
): string {
  const { webhook } = options;
  const { paint } = detectLook(io);
  const programs = describePrograms(options);
  const { models } = toModels(io.env, undefined);
  const row = (name: string, value: string, more = '') =>
    `  ${name.padEnd(10)} ${value}${more === '' ? '' : `  ${paint(more, 'dim')}`}`;
  return [
    '',
    `  ${paint('Fleetloom', 'brand')} is running. Ctrl-C stops it; all data is kept.`,
    '',
    row('Dashboard', link),
    row('', paint('one-time login link for one browser', 'dim')),
    row('SDK', `ANTHROPIC_BASE_URL=${url}`),
    row(
      'Key',
      firstKey ?? 'unchanged',
      firstKey === undefined ? `stored in ${data}` : 'for the SDK: ANTHROPIC_API_KEY',
    ),
    row('Terminal', toPasted(io, 'fleetloom watch'), 'in another terminal'),
    row(
      'Models',
      models === undefined ? 'scripted models only' : 'scripted models and your endpoint',
      models === undefined ? 'set ANTHROPIC_API_KEY for others' : '',
    ),
    ...(programs === undefined ? [] : [row('Programs', programs, '--no-programs disables it')]),
    ...(webhook === undefined ? [] : [row('Webhooks', toWebhookOrigins(webhook))]),
    ...(webhookKey === undefined
      ? []
      : [row('', webhookKey, 'signing key, shown only once: receivers need it as ANTHROPIC_WEBHOOK_SIGNING_KEY')]),
    row('Data', data),
    '',
    '',
  ].join('\n');
}
