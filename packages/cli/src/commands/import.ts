import { CommandError } from '../command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import { findAllSessions, findSessions } from '../import/find-sessions.ts';
import type { SessionFile } from '../import/session-files.ts';
import { SessionReader } from '../import/session-reader.ts';
import { StepSender } from '../import/step-sender.ts';
import type { Io } from '../io.ts';
import { toJsonText } from '../json-text.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { untilSignal } from '../until-signal.ts';
import { UsageError } from '../usage-error.ts';
import { writeText } from '../write-text.ts';

export interface ImportOptions extends ConnectionOptions {
  all?: boolean;
  config?: string;
  json?: boolean;
}

/** `fleetloom import`: sessions of Claude Code become sessions of the server, sub-agents included. Again changes nothing. */
export async function importSessions(io: Io, named: readonly string[], options: ImportOptions): Promise<number> {
  const { all = false, config, json = false } = options;
  if (all && named.length > 0) throw new UsageError('--all is everything.', 'Leave out the names, or --all.');
  const where = { env: io.env, config, directory: process.cwd() };
  const files = all ? await findAllSessions(where) : await findSessions(named.length === 0 ? ['.'] : named, where);
  const api = createServerApi(toConnection(io.env, options));
  // The oldest first, so that lists by the time of their making are in order.
  let code: number = exitCode.ok;
  const ending = await untilSignal(io, importEach(api, files.toReversed()), async (done) => {
    if (!(done instanceof CommandError))
      return await writeText(io.stdout, json ? `${toJsonText(io.stdout, done)}\n` : toLine(done));
    // One that the server does not take is no reason to leave out the others.
    code = done.exitCode;
    await writeText(io.stderr, `${cleanLine(done.message)}\n  ${cleanLine(done.fix)}\n`);
  });
  return ending === 'ended' ? code : exitCode[ending];
}

interface Done {
  readonly session_id: string;
  readonly conversation: string;
  readonly title: string | null;
  /** Steps that were new. */
  readonly taken: number;
  readonly unreadable_lines: number;
}

async function* importEach(
  api: ServerApi,
  files: readonly SessionFile[],
): AsyncGenerator<Done | CommandError, void, undefined> {
  for (const file of files) {
    try {
      const done = await importOne(api, file);
      if (done !== undefined) yield done;
    } catch (error) {
      if (!(error instanceof CommandError) || error.exitCode !== exitCode.refused) throw error;
      yield new CommandError(error.exitCode, `${file.path}: ${error.message}`, error.fix);
    }
  }
}

/** Undefined for a file in which nobody has said anything: that is no session. */
async function importOne(api: ServerApi, file: SessionFile): Promise<Done | undefined> {
  const reader = new SessionReader(file);
  const sender = new StepSender(api, file.id, reader.facts);
  for await (const steps of reader.read()) await sender.add(steps);
  await sender.add(reader.rest());
  if (sender.sessionId === undefined && !sender.isWaiting) return undefined;
  await sender.flush(true);
  return {
    session_id: sender.sessionId ?? '',
    conversation: file.id,
    title: reader.facts.title,
    taken: sender.taken,
    unreadable_lines: reader.unreadable,
  };
}

function toLine({ session_id: id, title, taken, unreadable_lines: lost }: Done): string {
  const news = taken === 0 ? 'nothing new' : `${taken} steps`;
  const loss = lost === 0 ? '' : `, ${lost} lines could not be read`;
  return `${id}  ${news}${loss}  ${cleanLine(title ?? '(no title)')}\n`;
}
