import { resolve } from 'node:path';
import { FleetloomError, type ScriptedModelServer, serveScriptedModel } from '@fleetloom/server';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { waitForSignal } from '../until-signal.ts';
import { UsageError } from '../usage-error.ts';
import { writeText } from '../write-text.ts';

export interface ModelOptions {
  port?: number;
  host?: string;
  scripts?: string;
  json?: boolean;
}

/** `fleetloom model`: the scripted model alone, for any client of the Messages API, until a signal ends it. */
export async function model(io: Io, options: ModelOptions): Promise<number> {
  const asked = waitForSignal(io);
  const server = await startModel(options);
  const { url, port } = server;
  await writeText(io.stdout, options.json === true ? `${JSON.stringify({ url, port })}\n` : toText(url));
  const signal = await asked;
  await server.close();
  return signal === 'SIGHUP' ? exitCode.SIGHUP : exitCode.ok;
}

async function startModel({ host, port = DEFAULT_PORT, scripts }: ModelOptions): Promise<ScriptedModelServer> {
  try {
    return await serveScriptedModel({
      host,
      port,
      scriptsDirectory: scripts === undefined ? undefined : resolve(scripts),
    });
  } catch (error) {
    if (!(error instanceof FleetloomError)) throw error;
    throw new UsageError(error.message, 'fleetloom model --help shows what can be set');
  }
}

/** Beside that of `serve`, so that both can run at once. */
const DEFAULT_PORT = 4281;

function toText(url: string): string {
  return [
    `The scripted model listens on ${url}`,
    '  models  scripted/…, and any other name for its echo',
    '  key     any: it asks for none',
    `  try     ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=any with any client of the Messages API`,
    '',
  ].join('\n');
}
