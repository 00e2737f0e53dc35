import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { writeText } from '../base/write-text.ts';
import type { ProgramOutputOptions } from './program-usage.ts';

/** Options of `fleetloom program rewind`. */
export interface ProgramRewindOptions extends ProgramOutputOptions {
  dryRun?: boolean;
}

interface ProgramRewind {
  readonly files: readonly string[];
}

/** `fleetloom program rewind`: restores files to their state before a message, by default the newest. */
export async function programRewind(
  io: Io,
  session: string,
  message: string | undefined,
  options: ProgramRewindOptions,
): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const path = `/v1/sessions/${encodeURIComponent(session)}`;
  const body = { message_id: message ?? (await findNewest(api, path)), dry_run: options.dryRun === true };
  const rewound = await api.post<ProgramRewind>(`${path}/program/rewind`, body);
  const lines = options.json === true ? [toJsonText(io.stdout, rewound)] : rewound.files.map(cleanLine);
  await writeText(io.stdout, lines.map((line) => `${line}\n`).join(''));
  return exitCode.ok;
}

async function findNewest(api: ServerApi, path: string): Promise<string> {
  const query = { order: 'desc', limit: 1, types: ['user.message'] };
  for await (const event of api.list<SessionEvent>(`${path}/events`, query)) {
    if (event.id !== undefined) return event.id;
  }
  throw new CommandError(exitCode.notFound, 'The session has no message.', 'There is nothing to rewind.');
}
