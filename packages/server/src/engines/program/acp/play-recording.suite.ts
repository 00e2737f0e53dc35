import type { Fields } from '../lines/json-rpc-line.ts';
import { record, records, text } from '../lines/values.ts';
import { agent, toolset } from '../suite/conversation.suite.ts';
import type { RecordedRow } from '../suite/mutate-recording.suite.ts';
import { converseInTest } from './agent-double.suite.ts';

/** The actions of one process of an agent, and the conversation that played them. */
export interface PlayedAgent {
  readonly talk: ReturnType<typeof converseInTest>;
  readonly turns: number;
  /** The texts of the main agent in turns, and its calls. */
  readonly said: readonly string[];
  readonly calls: ReadonlySet<unknown>;
  /** Each decision as it was recorded and as it was written. */
  readonly decisions: readonly { readonly recorded: unknown; readonly written: unknown }[];
}

/** The rows of each process of a recording. */
export function splitProcesses(rows: readonly RecordedRow[]): RecordedRow[][] {
  const ends = rows.flatMap(({ line }, at) => (line === null ? [at] : []));
  return ends.map((end, at) => rows.slice(at === 0 ? 0 : ends[at - 1]! + 1, end));
}

/** Plays the lines of one process, and answers like the recorded client. */
export function playAgent(rows: readonly RecordedRow[]): PlayedAgent {
  const lines = rows.flatMap(({ dir, line }) => parse(line ?? '').map((message) => ({ dir, message })));
  const sent = new Map(
    lines.flatMap(({ dir, message }) =>
      dir === 'in' && message['method'] !== undefined ? [[message['id'], message] as const] : [],
    ),
  );
  const load = [...sent.values()].find(({ method }) => method === 'session/load');
  const resume = text(record(load?.['params'])?.['sessionId']) ?? null;
  const talk = converseInTest({ resume, agent: agent({ tools: [toolset('always_ask')] }) });
  let sessionId = resume;
  /** The recorded id of the running prompt: this server sends one prompt at a time. */
  let prompt: unknown;
  const said: string[] = [];
  const calls = new Set<unknown>();
  const asks = new Map<unknown, Fields>();
  const decisions: { recorded: unknown; written: unknown }[] = [];
  let turns = 0;
  for (const { dir, message } of lines) {
    const { id, method, result } = message;
    const params = record(message['params']) ?? {};
    if (dir === 'in' && method === 'session/prompt' && prompt === undefined) {
      prompt = id;
      turns++;
      talk.say(
        records(params['prompt'])
          .map((block) => text(block['text']))
          .join(''),
      );
    }
    if (dir === 'in' && method === 'session/cancel') talk.conversation.interrupt();
    if (dir === 'in' && result !== undefined && asks.has(id)) decide(id, record(result) ?? {});
    if (dir === 'in') continue;
    if (method === undefined) {
      const recorded = text(sent.get(id)?.['method']) ?? '';
      if (recorded === 'session/prompt' && id !== prompt) continue;
      if (id === prompt) prompt = undefined;
      if (recorded === 'session/new') sessionId = text(record(result)?.['sessionId']) ?? null;
      talk.reply(recorded, message);
      continue;
    }
    if (method === 'session/request_permission') asks.set(id, params);
    const update = record(params['update']);
    if (prompt !== undefined && params['sessionId'] === sessionId) {
      if (update?.['sessionUpdate'] === 'agent_message_chunk')
        said.push(text(record(update['content'])?.['text']) ?? '');
      if (update?.['sessionUpdate'] === 'tool_call') calls.add(update['toolCallId']);
    }
    talk.conversation.take(message);
  }
  return { talk, turns, said, calls, decisions };

  function decide(id: unknown, recorded: Fields): void {
    const asked = asks.get(id) ?? {};
    const chosen = text(record(recorded['outcome'])?.['optionId']);
    const kind = records(asked['options']).find(({ optionId }) => optionId === chosen)?.['kind'];
    const callId = text(record(asked['toolCall'])?.['toolCallId']) ?? '';
    const isAllowed = kind === 'allow_once' || kind === 'allow_always';
    talk.conversation.answer(callId, isAllowed ? { type: 'allow' } : { type: 'deny', message: 'No.' });
    decisions.push({ recorded: recorded['outcome'], written: talk.outcomeOf(id as number) });
  }
}

/** Parses a line. A line that is not an object is ignored. */
function parse(line: string): Fields[] {
  try {
    return [record(JSON.parse(line)) ?? []].flat();
  } catch {
    return [];
  }
}
