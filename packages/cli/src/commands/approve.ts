import { type Approval, createSlots, foldSlots, openApprovals } from '@fleetloom/protocol/fleet';
import { CommandError } from '../command-error.ts';
import { type Connection, type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { openFleet } from '../connection/open-fleet.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import { toInputLine } from '../fleet/draw-threads.ts';
import type { Io } from '../io.ts';
import { cleanInputLine, cleanLine } from '../terminal/clean-text.ts';
import { formatPlural } from '../terminal/format.ts';
import { UsageError } from '../usage-error.ts';
import { writeText } from '../write-text.ts';

export interface ApproveOptions extends ConnectionOptions {
  all?: boolean;
  message?: string;
}

export type Answer = 'allow' | 'deny';

/**
 * `fleetloom approve` and `fleetloom deny`: answers what agents ask for, all of it or none of it. Nothing is answered that
 * was not named: without names, what is open is told.
 */
export async function approve(
  io: Io,
  result: Answer,
  session: string,
  ids: readonly string[],
  options: ApproveOptions,
): Promise<number> {
  if (ids.length > 0 && options.all === true)
    throw new UsageError('--all and ids exclude each other.', 'Leave one out.');
  const connection = toConnection(io.env, options);
  const api = createServerApi(connection);
  const path = `/v1/sessions/${encodeURIComponent(session)}`;
  await api.get(path);
  const open = await findOpen(connection, session);
  if (ids.length === 0 && options.all !== true) return tellOpen(io, result, session, open);
  const chosen = options.all === true ? open : ids.map((id) => choose(open, id));
  if (chosen.length === 0) {
    io.stderr.write(`Nothing waits for an answer in ${session}.\n`);
    return exitCode.ok;
  }
  const { message } = options;
  const events = chosen.map(({ toolUseId }) => ({
    type: 'user.tool_confirmation',
    tool_use_id: toolUseId,
    result,
    ...(message === undefined ? {} : { deny_message: message }),
  }));
  await api.post(`${path}/events`, { events });
  for (const each of chosen) io.stderr.write(`${result === 'allow' ? 'approved' : 'denied'}  ${describe(each)}\n`);
  await writeText(io.stdout, chosen.map(({ toolUseId }) => `${toolUseId}\n`).join(''));
  return exitCode.ok;
}

async function findOpen(connection: Connection, session: string): Promise<readonly Approval[]> {
  let slots = createSlots({ textCharsMax: 0 });
  for await (const event of openFleet(connection, { session, follow: false, retriesMax: 2 }))
    slots = foldSlots(slots, event);
  return openApprovals(slots);
}

function choose(open: readonly Approval[], id: string): Approval {
  const found = open.find(({ toolUseId }) => toolUseId === id);
  if (found !== undefined) return found;
  const fix =
    open.length === 0 ? 'Nothing waits there.' : `These do: ${open.map(({ toolUseId }) => toolUseId).join(' ')}`;
  throw new CommandError(exitCode.notFound, `${cleanLine(id)} does not wait for an answer.`, fix);
}

function tellOpen(io: Io, result: Answer, session: string, open: readonly Approval[]): number {
  if (open.length === 0) {
    io.stderr.write(`Nothing waits for an answer in ${session}.\n`);
    return exitCode.ok;
  }
  for (const each of open) io.stderr.write(`${each.toolUseId}  ${describe(each)}\n`);
  const word = result === 'allow' ? 'approve' : 'deny';
  const waits = `${formatPlural(open.length, 'call')} ${open.length === 1 ? 'waits' : 'wait'} for an answer.`;
  throw new UsageError(waits, `Name them, or: fleetloom ${word} ${session} --all`);
}

function describe({ agent, tool, input }: Approval): string {
  return cleanInputLine(`${agent}  ${tool}: ${toInputLine(input)}`);
}
