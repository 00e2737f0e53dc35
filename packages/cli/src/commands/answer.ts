import { toAnswerText } from '@fleetloom/protocol/fleet';
import { CommandError } from '../command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import { describeResult, type OpenResult, readOpen, toAnswerCommand } from '../fleet/read-open.ts';
import type { Io } from '../io.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { formatPlural } from '../terminal/format.ts';
import { UsageError } from '../usage-error.ts';
import { writeText } from '../write-text.ts';

/**
 * `fleetloom answer`: the answer to a question of an agent, or the result of a custom tool. `given` is the id of the call, which can be left
 * out where only one waits, and one text for each question.
 */
export async function answer(
  io: Io,
  session: string,
  given: readonly string[],
  options: ConnectionOptions,
): Promise<number> {
  const connection = toConnection(io.env, options);
  const api = createServerApi(connection);
  const path = `/v1/sessions/${encodeURIComponent(session)}`;
  await api.get(path);
  const { results: open } = await readOpen(connection, session);
  const [id = ''] = given;
  const isNamed = open.some(({ toolUseId }) => toolUseId === id) || (given.length > 1 && EVENT_ID.test(id));
  const texts = isNamed ? given.slice(1) : given;
  if (texts.length === 0) return listOpen(io, session, isNamed ? open.filter((each) => each.toolUseId === id) : open);
  // A named call that does not wait: the server says why it cannot be answered.
  const call = isNamed ? open.find(({ toolUseId }) => toolUseId === id) : findOnly(io, session, open);
  const text = toText(session, call, texts);
  const event = { type: 'user.custom_tool_result', custom_tool_use_id: call?.toolUseId ?? id };
  await api.post(`${path}/events`, { events: [{ ...event, content: [{ type: 'text', text }] }] });
  await writeText(io.stdout, `${event.custom_tool_use_id}\n`);
  return exitCode.ok;
}

const EVENT_ID = /^sevt_\w+$/;

function findOnly(io: Io, session: string, open: readonly OpenResult[]): OpenResult {
  const [only] = open;
  if (only === undefined) {
    const fix = `"fleetloom approve ${cleanLine(session)}" lists calls that wait for an approval.`;
    throw new CommandError(exitCode.notFound, `No question waits for an answer in ${cleanLine(session)}.`, fix);
  }
  if (open.length === 1) return only;
  for (const each of open) io.stderr.write(describeResult(each));
  throw new UsageError(`${open.length} questions wait for an answer.`, `Name one: ${toAnswerCommand(session, only)}`);
}

function toText(session: string, call: OpenResult | undefined, texts: readonly string[]): string {
  const questions = call?.questions ?? [];
  const expected = Math.max(1, questions.length);
  if (call !== undefined && texts.length !== expected) {
    const problem = `${formatPlural(expected, 'answer')} expected, one for each question, and ${texts.length} given.`;
    throw new UsageError(problem, `Use: ${toAnswerCommand(session, call)}`);
  }
  return toAnswerText(questions, texts);
}

function listOpen(io: Io, session: string, open: readonly OpenResult[]): number {
  const [first] = open;
  if (first === undefined) {
    io.stderr.write(`No question waits for an answer in ${cleanLine(session)}.\n`);
    return exitCode.ok;
  }
  for (const each of open) io.stderr.write(describeResult(each));
  const waits = `${formatPlural(open.length, 'question')} ${open.length === 1 ? 'waits' : 'wait'} for an answer.`;
  throw new UsageError(waits, `Answer with: ${toAnswerCommand(session, first)}`);
}
