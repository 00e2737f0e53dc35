import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Fields } from '../lines/json-rpc-line.ts';
import { record, records, text } from '../lines/values.ts';
import { agent, textsOf, toolset } from '../suite/conversation.suite.ts';
import { findDisorder } from '../suite/find-disorder.suite.ts';
import { converseInTest } from './agent-double.suite.ts';

// Every recording of a real agent. A file that is added here is tested without a change.
const folder = new URL('../../../../../../fixtures/engines/acp/', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));

interface Row {
  readonly dir: 'in' | 'out';
  readonly line: string | null;
}

it.each(names)(
  '[AC3, AC20] %s: every text, call and decision of the recording is an event, in the order of the contract',
  (name) => {
    const rows = readFileSync(new URL(name, folder), 'utf8')
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row) as Row);
    const ends = rows.flatMap(({ line }, at) => (line === null ? [at] : []));
    let turns = 0;
    for (const [at, end] of ends.entries()) turns += playProcess(rows.slice(at === 0 ? 0 : ends[at - 1]! + 1, end));
    expect(turns).toBeGreaterThan(0);
  },
);

/** Plays what one process wrote, and answers as the recorded client did. Returns how many turns there were. */
function playProcess(rows: readonly Row[]): number {
  const lines = rows.map(({ dir, line }) => ({ dir, message: JSON.parse(line ?? '{}') as Fields }));
  const sent = new Map(
    lines.flatMap(({ dir, message }) =>
      dir === 'in' && message['method'] !== undefined ? [[message['id'], message] as const] : [],
    ),
  );
  const load = [...sent.values()].find(({ method }) => method === 'session/load');
  const resume = text(record(load?.['params'])?.['sessionId']) ?? null;
  const talk = converseInTest({ resume, agent: agent({ tools: [toolset('always_ask')] }) });
  let sessionId = resume;
  /** The recorded id of the prompt that is under way, as this server would send prompts: one at a time. */
  let prompt: unknown;
  const said: string[] = [];
  const calls = new Set<unknown>();
  const asks = new Map<unknown, Fields>();
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
  expect(talk.failures).toEqual([]);
  expect(findDisorder(talk.events)).toEqual([]);
  expect(textsOf(talk.events).join('')).toBe(said.join(''));
  const announced = talk.events.flatMap((event) => (event.type === 'call' ? [event.callId] : []));
  expect(announced).toEqual(expect.arrayContaining([...calls]));
  const owed = new Set(announced);
  for (const event of talk.events) if (event.type === 'result') owed.delete(event.callId);
  if (talk.conversation.isResting) expect([...owed]).toEqual([]);
  return turns;

  function decide(id: unknown, recorded: Fields): void {
    const asked = asks.get(id) ?? {};
    const chosen = text(record(recorded['outcome'])?.['optionId']);
    const kind = records(asked['options']).find(({ optionId }) => optionId === chosen)?.['kind'];
    const callId = text(record(asked['toolCall'])?.['toolCallId']) ?? '';
    const isAllowed = kind === 'allow_once' || kind === 'allow_always';
    talk.conversation.answer(callId, isAllowed ? { type: 'allow' } : { type: 'deny', message: 'No.' });
    expect(talk.outcomeOf(id as number)).toEqual(recorded['outcome']);
  }
}
