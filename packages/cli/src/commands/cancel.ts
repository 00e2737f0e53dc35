import { idPrefixes } from '@fleetloom/protocol/managed-agents';
import { CommandError } from '../command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { writeText } from '../write-text.ts';

export interface CancelOptions extends ConnectionOptions {
  wait?: boolean;
}

/** `fleetloom cancel`: stops a run and everybody who works for it, and says how it ended. */
export async function cancel(io: Io, given: string, options: CancelOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const request = given.startsWith(`${idPrefixes.session}_`) ? await findRun(api, given) : given;
  const path = `/v1/requests/${encodeURIComponent(request)}`;
  const asked = await api.post<RunStatus>(`${path}/cancel`, {});
  const state = options.wait === false ? asked.state : await waitForEnd(api, path);
  await writeText(io.stdout, `${state}\n`);
  return exitCode.ok;
}

interface RunStatus {
  readonly request_id: string;
  readonly session_id: string;
  readonly state: 'running' | 'completed' | 'failed' | 'cancelled';
}

/** People know their sessions; the run under way is the newest of one. */
async function findRun(api: ServerApi, sessionId: string): Promise<string> {
  await api.get(`/v1/sessions/${encodeURIComponent(sessionId)}`);
  for await (const run of api.list<RunStatus>('/v1/requests', { limit: PAGE_ITEMS })) {
    if (run.session_id !== sessionId) continue;
    if (run.state === 'running') return run.request_id;
    break;
  }
  throw new CommandError(exitCode.notFound, `Nothing runs in ${cleanLine(sessionId)}.`, 'There is nothing to cancel.');
}

/** What the server gives at a time. */
const PAGE_ITEMS = 100;

/** The stream of a run ends with the run. */
async function waitForEnd(api: ServerApi, path: string): Promise<RunStatus['state']> {
  const signal = AbortSignal.timeout(limits.cancelMs);
  const stream = await api.open(`${path}/events`, { signal });
  try {
    await stream.body?.pipeTo(new WritableStream());
  } catch (error) {
    // Too late, or broken: what has become of it is asked for below in any case.
    if (!signal.aborted && !(error instanceof TypeError)) throw error;
  }
  return (await api.get<RunStatus>(path)).state;
}
