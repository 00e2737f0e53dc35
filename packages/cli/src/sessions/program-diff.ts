import { cleanLine } from '@fleetloom/protocol/text';
import { toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { writeText } from '../base/write-text.ts';
import type { ProgramOutputOptions } from './program-usage.ts';

interface ProgramDiff {
  readonly files: readonly FileDiff[];
  readonly files_omitted: number;
  readonly reason: string | null;
}

interface FileDiff {
  readonly path: string;
  readonly status: string;
  readonly lines_added: number;
  readonly lines_removed: number;
  readonly patch: string | null;
}

/** `fleetloom program diff`: prints one line for each file, with its hunks below it. */
export async function programDiff(io: Io, session: string, options: ProgramOutputOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const diff = await api.get<ProgramDiff>(`/v1/sessions/${encodeURIComponent(session)}/program/diff`);
  if (options.json === true) {
    await writeText(io.stdout, `${toJsonText(io.stdout, diff)}\n`);
    return exitCode.ok;
  }
  if (diff.reason !== null) await writeText(io.stderr, `There is no diff: ${cleanLine(diff.reason)}.\n`);
  await writeText(
    io.stdout,
    diff.files
      .flatMap(toLines)
      .map((line) => `${cleanLine(line)}\n`)
      .join(''),
  );
  if (diff.files_omitted > 0) await writeText(io.stderr, `${diff.files_omitted} more files differ.\n`);
  return exitCode.ok;
}

function toLines({ path, status, lines_added: added, lines_removed: removed, patch }: FileDiff): string[] {
  return [`${status} ${path} (+${added} −${removed})`, ...(patch === null ? [] : patch.split('\n'))];
}
