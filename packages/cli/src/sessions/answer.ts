import { toAnswerText } from '@fleetloom/protocol/fleet';
import { cleanLine, plural } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import { describeResult, type OpenResult, readOpen, toAnswerCommand } from '../fleet/read-open.ts';
import type { Io } from '../base/io.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';

/**
 * `fleetloom answer`: answers a question of an agent or returns the result of a custom tool. `given` is the id of the tool
 * call, optional if only one is pending, and one text per question.
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
  // An id that is not pending is sent too: the server reports why it cannot be answered.
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
    const fix = `"fleetloom approve ${cleanLine(session)}" lists pending approvals.`;
    throw new CommandError(exitCode.notFound, `No question is pending in ${cleanLine(session)}.`, fix);
  }
  if (open.length === 1) return only;
  for (const each of open) io.stderr.write(describeResult(each));
  throw new UsageError(
    `${open.length} questions are pending.`,
    `Pass the id of one: ${toAnswerCommand(session, only)}`,
  );
}

function toText(session: string, call: OpenResult | undefined, texts: readonly string[]): string {
  const questions = call?.questions ?? [];
  const expected = Math.max(1, questions.length);
  if (call !== undefined && texts.length !== expected) {
    const problem = `${plural(expected, 'answer')} expected, one per question; got ${texts.length}.`;
    throw new UsageError(problem, `Run: ${toAnswerCommand(session, call)}`);
  }
  return toAnswerText(questions, texts);
}

function listOpen(io: Io, session: string, open: readonly OpenResult[]): number {
  const [first] = open;
  if (first === undefined) {
    io.stderr.write(`No question is pending in ${cleanLine(session)}.\n`);
    return exitCode.ok;
  }
  for (const each of open) io.stderr.write(describeResult(each));
  const pending = `${plural(open.length, 'question')} ${open.length === 1 ? 'is' : 'are'} pending.`;
  throw new UsageError(pending, `Answer with: ${toAnswerCommand(session, first)}`);
}
