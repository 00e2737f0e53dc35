import { readFile } from 'node:fs/promises';
import { type Approval, planOf } from '@fleetloom/protocol/fleet';
import { cleanLine, plural } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import { isObject } from '../base/is-object.ts';
import { toInputLine } from '../fleet/draw-threads.ts';
import { describeResult, type OpenCalls, type OpenResult, readOpen, toAnswerCommand } from '../fleet/read-open.ts';
import type { Io } from '../base/io.ts';
import { cleanText } from '../terminal/clean-text.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';
import { toPasted } from '../base/to-pasted.ts';

/** Options of `approve` and `deny`. */
export interface ApproveOptions extends ConnectionOptions {
  all?: boolean;
  message?: string;
  /** With `deny`: also interrupts the turn that made the tool call. */
  interrupt?: boolean;
  /** With `approve`, for one tool call: the input to run it with, as JSON or `@file`. */
  input?: string;
}

/** The decision on a tool call. */
export type Decision = 'allow' | 'deny';

/**
 * `fleetloom approve` and `fleetloom deny`: decides pending tool calls, all of the given ids or none. Without ids and --all,
 * lists the pending calls and decides nothing.
 */
export async function approve(
  io: Io,
  result: Decision,
  session: string,
  ids: readonly string[],
  options: ApproveOptions,
): Promise<number> {
  if (ids.length > 0 && options.all === true)
    throw new UsageError('--all cannot be combined with ids.', 'Pass either --all or ids.');
  const updatedInput = options.input === undefined ? undefined : await readInput(options.input);
  const connection = toConnection(io.env, options);
  const api = createServerApi(connection);
  const path = `/v1/sessions/${encodeURIComponent(session)}`;
  await api.get(path);
  const asks = await readOpen(connection, session);
  const { approvals: open } = asks;
  const isOnly = updatedInput !== undefined && open.length === 1;
  if (ids.length === 0 && options.all !== true && !isOnly) return printPending(io, result, session, asks);
  for (const id of ids) refuseQuestion(session, asks, id);
  const chosen = options.all === true || ids.length === 0 ? open.map(({ toolUseId }) => toolUseId) : ids;
  if (updatedInput !== undefined && chosen.length > 1) {
    throw new UsageError(
      `--input applies to one tool call; ${chosen.length} are selected.`,
      'Pass the id of one tool call.',
    );
  }
  if (chosen.length === 0) {
    io.stderr.write(`${asks.results.length === 0 ? 'Nothing is pending' : 'No approval is pending'} in ${session}.\n`);
    printQuestions(io, session, asks.results);
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
  // Ids that are not pending are sent too: the server rejects the whole request and reports why.
  await api.post(`${path}/events`, { events }).catch((error: unknown) => {
    throw toRefusal(session, asks, error);
  });
  const word = result === 'allow' ? 'approved' : 'denied';
  for (const id of chosen) {
    const call = open.find(({ toolUseId }) => toolUseId === id);
    const run = call !== undefined && updatedInput !== undefined ? { ...call, input: updatedInput } : call;
    io.stderr.write(`${word}  ${run === undefined ? cleanLine(id) : describe(run)}\n`);
  }
  if (options.all === true) printQuestions(io, session, asks.results);
  await writeText(io.stdout, chosen.map((id) => `${id}\n`).join(''));
  return exitCode.ok;
}

/** A question needs an answer, not a decision. */
function refuseQuestion(session: string, { results }: OpenCalls, id: string): void {
  const question = results.find(({ toolUseId }) => toolUseId === id);
  if (question === undefined) return;
  const kind = question.questions.length > 0 ? 'question' : 'custom tool call';
  const fix = `Answer with: ${toAnswerCommand(session, question)}`;
  throw new UsageError(`${cleanLine(id)} is a ${kind}, not an approval.`, fix);
}

/** The server's error with advice: continue after a withdrawn approval, else a list of the pending calls. */
function toRefusal(session: string, { approvals }: OpenCalls, error: unknown): unknown {
  if (!(error instanceof CommandError) || error.exitCode !== exitCode.refused) return error;
  const message = error.message.replace(/^events\[\d+\]: /, '');
  const waiting = approvals.map(({ toolUseId }) => toolUseId).join(' ');
  const others = waiting === '' ? `Nothing is pending in ${cleanLine(session)}.` : `Pending tool calls: ${waiting}`;
  if (/ does not wait for user\.tool_confirmation/.test(message)) {
    return new CommandError(exitCode.notFound, message, others, { cause: error });
  }
  const isRestart = / because the server (restarted|ended its idle program)/.test(message);
  const fix = isRestart ? `Continue with: fleetloom continue ${cleanLine(session)}` : others;
  return new CommandError(exitCode.refused, message, fix, { cause: error });
}

/** Lists pending questions, if there are any. */
function printQuestions(io: Io, session: string, results: readonly OpenResult[]): void {
  const [first] = results;
  if (first === undefined) return;
  for (const each of results) io.stderr.write(describeResult(each));
  io.stderr.write(`${plural(results.length, 'question')} ${results.length === 1 ? 'is' : 'are'} pending. `);
  io.stderr.write(toPasted(io, `Answer with: ${toAnswerCommand(session, first)}\n`));
}

function printPending(io: Io, result: Decision, session: string, { approvals: open, results }: OpenCalls): number {
  if (open.length === 0) {
    printQuestions(io, session, results);
    if (results.length > 0) return exitCode.usage;
    io.stderr.write(`Nothing is pending in ${session}.\n`);
    return exitCode.ok;
  }
  for (const each of open) io.stderr.write(`${each.toolUseId}  ${describe(each)}\n${toPlanText(each)}`);
  printQuestions(io, session, results);
  const word = result === 'allow' ? 'approve' : 'deny';
  const pending = `${plural(open.length, 'tool call')} ${open.length === 1 ? 'is' : 'are'} pending.`;
  throw new UsageError(pending, `Pass their ids, or run: fleetloom ${word} ${session} --all`);
}

function describe(approval: Approval): string {
  const { agent, tool, input } = approval;
  const what = planOf(approval) === null ? toInputLine(input) : 'a plan';
  return cleanLine(`${agent}  ${tool}: ${what}`);
}

/** The plan of a tool call, indented; empty for other tool calls. */
function toPlanText(approval: Approval): string {
  const plan = planOf(approval);
  if (plan === null) return '';
  return cleanText(plan)
    .split('\n')
    .map((line) => `    ${line}\n`)
    .join('');
}

async function readInput(given: string): Promise<object> {
  const text = given.startsWith('@') ? await readInputFile(given.slice(1)) : given;
  const value = parseJson(text);
  if (isObject(value)) return value;
  const fix = `Pass the whole input of the tool call, for example --input '{"command":"ls"}', or a file: --input @input.json`;
  throw new UsageError('--input is not a JSON object.', fix);
}

async function readInputFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--input: ${cleanLine(problem)}.`, 'Pass a readable file.');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
