import type { FleetloomServer } from '@fleetloom/server';
import { DEFAULT_MODEL, toModelName } from '../agents/to-model-name.ts';
import { toDataDirectory } from '../connection/data-directory.ts';
import { type LocalServer, rememberServer } from '../connection/local-server.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { writeDemoScripts } from '../demo-fleet/demo-files.ts';
import { startDemo } from '../demo-fleet/start-demo.ts';
import { demoAgents } from '../demo-fleet/tasks.ts';
import { watchDemo } from '../demo-fleet/watch-demo.ts';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { installLastResort } from '../last-resort.ts';
import { openInBrowser } from '../open-in-browser.ts';
import { listenForEnd } from '../run/asked.ts';
import { detectLook } from '../terminal/look.ts';
import { writeText } from '../write-text.ts';
import { describePrograms, toProgramNames, withOwnPrograms } from './programs.ts';
import { type ServeOptions, startHere, toModels, toWebhookPlaces } from './serve.ts';

export interface StartOptions extends ServeOptions {
  /** How many agents; true: as many as is usual; false: none, also at the first start. */
  demo?: number | boolean;
  /** The model of the demo's agents. Left out: the scripted one. */
  model?: string;
  /** Whether the dashboard is opened in a browser. */
  browser?: boolean;
}

/**
 * `fleetloom start`: the server, the dashboard and, at the first start, a fleet to watch. Everything is kept, so a later
 * start shows what there was and begins nothing by itself.
 */
export async function start(io: Io, asked: StartOptions): Promise<number> {
  const options = withOwnPrograms(asked, asked.host ?? io.env['HOST']);
  const ended = listenForEnd(io);
  const dataDirectory = toDataDirectory(io.env, options.data);
  const agents = typeof options.demo === 'number' ? options.demo : demoAgents.normally;
  const scripts = options.scripts ?? (await writeDemoScripts(dataDirectory, agents));
  const server = await startHere(io, { ...options, scripts }, dataDirectory);
  const uninstall = installLastResort(io, server);
  try {
    const local = await rememberServer(dataDirectory, { ...server, programs: toProgramNames(options) });
    const link = await server.dashboardUrl();
    await writeText(
      io.stdout,
      options.json === true ? toJson(options, server, local, link) : toText(io, options, dataDirectory, server, link),
    );
    if (options.browser !== false && options.json !== true) openInBrowser(io, link);

    const api = createServerApi({ url: server.url, key: local.key ?? undefined });
    if (await isDemoWanted(api, options)) {
      const sessionId = await startDemo(api, { agents, model: toDemoModel(io, options) });
      if (options.json !== true) await watchDemo(io, api, sessionId, ended);
    }
    await ended.whenAsked();
    if (options.json !== true) await writeText(io.stderr, 'stopping …\n');
  } finally {
    ended.stop();
    await server.close();
    uninstall();
  }
  return ended.signal === 'SIGHUP' ? exitCode.SIGHUP : exitCode.ok;
}

/** Said, or nothing has ever happened here. */
async function isDemoWanted(api: ServerApi, { demo }: StartOptions): Promise<boolean> {
  if (demo !== undefined) return demo !== false;
  const first = await api.list('/v1/sessions', { limit: 1, include_archived: 'true' }).next();
  return first.done === true;
}

/** A key alone does not spend money: who wants the demo on a real model says so. */
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
    `  ${paint('Fleetloom', 'brand')} is running. Ctrl-C stops it; everything is kept.`,
    '',
    row('Dashboard', link),
    row('', paint('the link lets one browser in, once', 'dim')),
    row('SDK', `ANTHROPIC_BASE_URL=${url}`),
    row(
      'Key',
      firstKey ?? 'as before',
      firstKey === undefined ? `it stands in ${data}` : 'ANTHROPIC_API_KEY for the SDK',
    ),
    row('Terminal', 'fleetloom watch', 'in another one'),
    row(
      'Models',
      models === undefined ? 'the embedded one' : 'the embedded one, and your endpoint',
      models === undefined ? 'set ANTHROPIC_API_KEY for others' : '',
    ),
    ...(programs === undefined ? [] : [row('Programs', programs, '--no-programs turns them off')]),
    ...(webhook === undefined ? [] : [row('Webhooks', toWebhookPlaces(webhook))]),
    ...(webhookKey === undefined
      ? []
      : [row('', webhookKey, 'shown only now: receivers need it as ANTHROPIC_WEBHOOK_SIGNING_KEY')]),
    row('Data', data),
    '',
    '',
  ].join('\n');
}
