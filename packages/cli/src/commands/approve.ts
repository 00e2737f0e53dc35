import { readFile } from 'node:fs/promises';
import { type Approval, createSlots, foldSlots, openApprovals, planOf } from '@fleetloom/protocol/fleet';
import { CommandError } from '../command-error.ts';
import { type Connection, type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { openFleet } from '../connection/open-fleet.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import { toInputLine } from '../fleet/draw-threads.ts';
import type { Io } from '../io.ts';
import { cleanInput, cleanInputLine, cleanLine } from '../terminal/clean-text.ts';
import { formatPlural } from '../terminal/format.ts';
import { UsageError } from '../usage-error.ts';
import { writeText } from '../write-text.ts';

export interface ApproveOptions extends ConnectionOptions {
  all?: boolean;
  message?: string;
  /** Of `deny`: the turns that made the calls end as well. */
  interrupt?: boolean;
  /** Of `approve`, for one call: the input that it runs with, as JSON or as `@file`. */
  input?: string;
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
  const updatedInput = options.input === undefined ? undefined : await readInput(options.input);
  const connection = toConnection(io.env, options);
  const api = createServerApi(connection);
  const path = `/v1/sessions/${encodeURIComponent(session)}`;
  await api.get(path);
  const open = await findOpen(connection, session);
  const isOnly = updatedInput !== undefined && open.length === 1;
  if (ids.length === 0 && options.all !== true && !isOnly) return tellOpen(io, result, session, open);
  const chosen = options.all === true || ids.length === 0 ? open : ids.map((id) => choose(open, id));
  if (updatedInput !== undefined && chosen.length > 1) {
    throw new UsageError(`--input is for one call, and ${chosen.length} are chosen.`, 'Name one call.');
  }
  if (chosen.length === 0) {
    io.stderr.write(`Nothing waits for an answer in ${session}.\n`);
    return exitCode.ok;
  }
  const { message, interrupt = false } = options;
  const events = chosen.map(({ toolUseId }) => ({
    type: 'user.tool_confirmation',
    tool_use_id: toolUseId,
    result,
    ...(message === undefined ? {} : { deny_message: message }),
    ...(interrupt ? { interrupt } : {}),
    ...(updatedInput === undefined ? {} : { updated_input: updatedInput }),
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
  for (const each of open) io.stderr.write(`${each.toolUseId}  ${describe(each)}\n${toPlanText(each)}`);
  const word = result === 'allow' ? 'approve' : 'deny';
  const waits = `${formatPlural(open.length, 'call')} ${open.length === 1 ? 'waits' : 'wait'} for an answer.`;
  throw new UsageError(waits, `Name them, or: fleetloom ${word} ${session} --all`);
}

function describe(approval: Approval): string {
  const { agent, tool, input } = approval;
  const what = planOf(approval) === null ? toInputLine(input) : 'a plan';
  return cleanInputLine(`${agent}  ${tool}: ${what}`);
}

/** The plan below its call, indented; nothing for other calls. */
function toPlanText(approval: Approval): string {
  const plan = planOf(approval);
  if (plan === null) return '';
  return cleanInput(plan)
    .split('\n')
    .map((line) => `    ${line}\n`)
    .join('');
}

async function readInput(given: string): Promise<object> {
  const text = given.startsWith('@') ? await readInputFile(given.slice(1)) : given;
  const value = parseJson(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  const fix = `Pass the whole input of the call, e.g. --input '{"command":"ls"}', or a file: --input @input.json`;
  throw new UsageError('--input is not a JSON object.', fix);
}

async function readInputFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--input: ${cleanLine(problem)}.`, 'Name a file that can be read.');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
