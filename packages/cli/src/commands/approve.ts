import { readFile } from 'node:fs/promises';
import { type Approval, planOf } from '@fleetloom/protocol/fleet';
import { CommandError } from '../command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import { toInputLine } from '../fleet/draw-threads.ts';
import { describeResult, type OpenAsks, type OpenResult, readOpen, toAnswerCommand } from '../fleet/read-open.ts';
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
  const asks = await readOpen(connection, session);
  const { approvals: open } = asks;
  const isOnly = updatedInput !== undefined && open.length === 1;
  if (ids.length === 0 && options.all !== true && !isOnly) return tellOpen(io, result, session, asks);
  for (const id of ids) refuseQuestion(session, asks, id);
  const chosen = options.all === true || ids.length === 0 ? open.map(({ toolUseId }) => toolUseId) : ids;
  if (updatedInput !== undefined && chosen.length > 1) {
    throw new UsageError(`--input is for one call, and ${chosen.length} are chosen.`, 'Name one call.');
  }
  if (chosen.length === 0) {
    io.stderr.write(
      `${asks.results.length === 0 ? 'Nothing waits for an answer' : 'No approval is pending'} in ${session}.\n`,
    );
    tellQuestions(io, session, asks.results);
    return exitCode.ok;
  }
  const { message, interrupt = false } = options;
  const events = chosen.map((id) => ({
    type: 'user.tool_confirmation',
    tool_use_id: id,
    result,
    ...(message === undefined ? {} : { deny_message: message }),
    ...(interrupt ? { interrupt } : {}),
    ...(updatedInput === undefined ? {} : { updated_input: updatedInput }),
  }));
  // Calls that do not wait are sent as well: the server refuses all of them and says why.
  await api.post(`${path}/events`, { events }).catch((error: unknown) => {
    throw toRefusal(session, asks, error);
  });
  const word = result === 'allow' ? 'approved' : 'denied';
  for (const id of chosen) {
    const call = open.find(({ toolUseId }) => toolUseId === id);
    const run = call !== undefined && updatedInput !== undefined ? { ...call, input: updatedInput } : call;
    io.stderr.write(`${word}  ${run === undefined ? cleanLine(id) : describe(run)}\n`);
  }
  if (options.all === true) tellQuestions(io, session, asks.results);
  await writeText(io.stdout, chosen.map((id) => `${id}\n`).join(''));
  return exitCode.ok;
}

/** A question is answered in words. */
function refuseQuestion(session: string, { results }: OpenAsks, id: string): void {
  const question = results.find(({ toolUseId }) => toolUseId === id);
  if (question === undefined) return;
  const kind = question.questions.length > 0 ? 'question' : 'call of a custom tool';
  const fix = `Answer with: ${toAnswerCommand(session, question)}`;
  throw new UsageError(`${cleanLine(id)} is a ${kind}, not an approval.`, fix);
}

/** The reason of the server, and what can be done: continue after a withdrawal, else name the calls that wait. */
function toRefusal(session: string, { approvals }: OpenAsks, error: unknown): unknown {
  if (!(error instanceof CommandError) || error.exitCode !== exitCode.refused) return error;
  const message = error.message.replace(/^events\[\d+\]: /, '');
  const waiting = approvals.map(({ toolUseId }) => toolUseId).join(' ');
  const others =
    waiting === '' ? `Nothing waits for an answer in ${cleanLine(session)}.` : `These calls wait: ${waiting}`;
  if (/ does not wait for user\.tool_confirmation/.test(message)) {
    return new CommandError(exitCode.notFound, message, others, { cause: error });
  }
  const isRestart = / because the server (restarted|ended its idle program)/.test(message);
  const fix = isRestart ? `Continue with: fleetloom continue ${cleanLine(session)}` : others;
  return new CommandError(exitCode.refused, message, fix, { cause: error });
}

/** Nothing is written where there are none. */
function tellQuestions(io: Io, session: string, results: readonly OpenResult[]): void {
  const [first] = results;
  if (first === undefined) return;
  for (const each of results) io.stderr.write(describeResult(each));
  io.stderr.write(
    `${formatPlural(results.length, 'question')} ${results.length === 1 ? 'waits' : 'wait'} for an answer. `,
  );
  io.stderr.write(`Answer with: ${toAnswerCommand(session, first)}\n`);
}

function tellOpen(io: Io, result: Answer, session: string, { approvals: open, results }: OpenAsks): number {
  if (open.length === 0) {
    tellQuestions(io, session, results);
    if (results.length > 0) return exitCode.usage;
    io.stderr.write(`Nothing waits for an answer in ${session}.\n`);
    return exitCode.ok;
  }
  for (const each of open) io.stderr.write(`${each.toolUseId}  ${describe(each)}\n${toPlanText(each)}`);
  tellQuestions(io, session, results);
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
