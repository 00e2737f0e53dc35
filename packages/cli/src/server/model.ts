import { resolve } from 'node:path';
import { FleetloomError, type ScriptedModelServer, serveScriptedModel } from '@fleetloom/server';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { waitForSignal } from '../base/until-signal.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';

/** Options of `model`. */
export interface ModelOptions {
  port?: number;
  host?: string;
  scripts?: string;
  json?: boolean;
}

/** `fleetloom model`: serves the scripted model to any client of the Messages or Responses API until a signal arrives. */
export async function model(io: Io, options: ModelOptions): Promise<number> {
  const stopped = waitForSignal(io);
  const server = await startModel(options);
  const { url, port } = server;
  await writeText(io.stdout, options.json === true ? `${JSON.stringify({ url, port })}\n` : toText(url));
  const signal = await stopped;
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
    throw new UsageError(error.message, '"fleetloom model --help" lists the options.');
  }
}

/** Differs from the port of `serve`, so that both can run at the same time. */
const DEFAULT_PORT = 4281;

function toText(url: string): string {
  return [
    `The scripted model listens on ${url}`,
    '  models  scripted/…; any other name repeats its input',
    '  key     not required',
    `  SDK     ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=any`,
    `          OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=any`,
    '',
  ].join('\n');
}
