import { cleanLine } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import type { SessionFile } from './session-files.ts';
import type { SessionFormat } from './session-format.ts';
import { SessionReader } from './session-reader.ts';
import { openSessionSource } from './session-source.ts';
import { StepSender } from './step-sender.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { untilSignal } from '../base/until-signal.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';

export interface ImportOptions extends ConnectionOptions {
  all?: boolean;
  config?: string;
  from?: string;
  json?: boolean;
  opencode?: string;
}

/** `fleetloom import`: imports sessions of another program, sub-agents included. Importing again adds only new steps. */
export async function importSessions(io: Io, named: readonly string[], options: ImportOptions): Promise<number> {
  const { all = false, config, from = 'claude-code', json = false } = options;
  if (all && named.length > 0)
    throw new UsageError('--all cannot be combined with sessions.', 'Pass either --all or sessions.');
  const where = { env: io.env, config, program: options.opencode, directory: process.cwd() };
  const { format, find, findAll } = await openSessionSource(from, where, io.timers);
  const files = all ? await findAll() : await find(named.length === 0 ? ['.'] : named);
  const api = createServerApi(toConnection(io.env, options));
  // Oldest first, so that lists sorted by creation time are in order.
  let code: number = exitCode.ok;
  const ending = await untilSignal(io, importEach(api, files.toReversed(), format), async (done) => {
    if (!(done instanceof CommandError))
      return await writeText(io.stdout, json ? `${toJsonText(io.stdout, done)}\n` : toLine(done));
    // A session that the server rejects does not stop the others.
    code = done.exitCode;
    await writeText(io.stderr, `${cleanLine(done.message)}\n  ${cleanLine(done.fix)}\n`);
  });
  return ending === 'ended' ? code : exitCode[ending];
}

interface Done {
  readonly session_id: string;
  readonly conversation: string;
  readonly title: string | null;
  /** Number of new steps. */
  readonly taken: number;
  readonly unreadable_lines: number;
}

async function* importEach(
  api: ServerApi,
  files: readonly SessionFile[],
  format: SessionFormat,
): AsyncGenerator<Done | CommandError, void, undefined> {
  for (const file of files) {
    try {
      const done = await importOne(api, file, format);
      if (done !== undefined) yield done;
    } catch (error) {
      if (!(error instanceof CommandError) || error.exitCode !== exitCode.refused) throw error;
      yield new CommandError(error.exitCode, `${file.path}: ${error.message}`, error.fix);
    }
  }
}

/** Undefined for a file without messages, which is not a session. */
async function importOne(api: ServerApi, file: SessionFile, format: SessionFormat): Promise<Done | undefined> {
  const reader = new SessionReader(file, format);
  const sender = new StepSender(api, { program: format.program, conversation: file.id }, reader.facts);
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
  const loss = lost === 0 ? '' : `, ${lost} unreadable lines`;
  return `${id}  ${news}${loss}  ${cleanLine(title ?? '(no title)')}\n`;
}
