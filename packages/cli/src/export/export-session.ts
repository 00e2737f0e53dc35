import { CommandError } from '../base/command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import { createExportCheck } from './check-export.ts';
import { readLines } from './read-lines.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { untilSignal } from '../base/until-signal.ts';
import { writeText } from '../base/write-text.ts';

/** `fleetloom export`: prints the whole log of a session, sub-agents included, one JSON object per line. */
export async function exportSession(io: Io, session: string, options: ConnectionOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const stop = new AbortController();
  const response = await api.open(`/v1/sessions/${encodeURIComponent(session)}/export`, { signal: stop.signal });
  const check = createExportCheck();
  const ending = await untilSignal(io, readLines(response.body), async (lines) => {
    for (const line of lines) check.line(line);
    // Prints the bytes of the server unchanged, so that two exports are equal. On a terminal, control characters are escaped.
    const shown = io.stdout.isTTY === true ? lines.map((line) => toJsonText(io.stdout, JSON.parse(line))) : lines;
    await writeText(io.stdout, shown.map((line) => `${line}\n`).join(''));
  }).catch((error: unknown) => {
    throw incomplete(error instanceof Error ? error.message : String(error));
  });
  stop.abort();
  if (ending !== 'ended') return exitCode[ending];
  const problem = check.end();
  if (problem !== undefined) throw incomplete(problem);
  return exitCode.ok;
}

function incomplete(problem: string): CommandError {
  return new CommandError(exitCode.refused, `The export is incomplete: ${problem}.`, 'Export it again.');
}
