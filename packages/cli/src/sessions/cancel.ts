import { idPrefixes } from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { writeText } from '../base/write-text.ts';

/** Options of `cancel`. */
export interface CancelOptions extends ConnectionOptions {
  wait?: boolean;
}

/** `fleetloom cancel`: cancels a run with all its threads and prints how it ended. */
export async function cancel(io: Io, given: string, options: CancelOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const request = given.startsWith(`${idPrefixes.session}_`) ? await findRun(api, given) : given;
  const path = `/v1/requests/${encodeURIComponent(request)}`;
  const cancelled = await api.post<RunStatus>(`${path}/cancel`, {});
  const state = options.wait === false ? cancelled.state : await waitForEnd(api, path);
  await writeText(io.stdout, `${state}\n`);
  return exitCode.ok;
}

interface RunStatus {
  readonly request_id: string;
  readonly session_id: string;
  readonly state: 'running' | 'completed' | 'failed' | 'cancelled';
}

/** The running run of a session: its newest one. */
async function findRun(api: ServerApi, sessionId: string): Promise<string> {
  await api.get(`/v1/sessions/${encodeURIComponent(sessionId)}`);
  for await (const run of api.list<RunStatus>('/v1/requests', { limit: PAGE_ITEMS })) {
    if (run.session_id !== sessionId) continue;
    if (run.state === 'running') return run.request_id;
    break;
  }
  throw new CommandError(
    exitCode.notFound,
    `No run is active in ${cleanLine(sessionId)}.`,
    'There is nothing to cancel.',
  );
}

/** The largest page of the server. */
const PAGE_ITEMS = 100;

/** Reads the stream of the run, which ends with the run. */
async function waitForEnd(api: ServerApi, path: string): Promise<RunStatus['state']> {
  const signal = AbortSignal.timeout(limits.cancelMs);
  const stream = await api.open(`${path}/events`, { signal });
  try {
    await stream.body?.pipeTo(new WritableStream());
  } catch (error) {
    // A timeout or a lost connection: the state is requested below in any case.
    if (!signal.aborted && !(error instanceof TypeError)) throw error;
  }
  return (await api.get<RunStatus>(path)).state;
}
