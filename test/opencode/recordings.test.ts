import { describe, expect, it } from 'vitest';
import type { ProgramEvent } from '../../packages/server/src/engines/program/program.ts';
import { findDisorder } from '../../packages/server/src/engines/program/suite/find-disorder.suite.ts';
import { type ExpectedThread, opencodeRecordings, type OpencodeRecording, play } from './play-recording.ts';

// What the engine makes of streams that the real program once sent. It needs no program.
describe('recordings of opencode', () => {
  const all = opencodeRecordings().flatMap((recording) => {
    const roots = recording.expected.threads.filter(({ parent }) => parent === null);
    return roots.map((root) => [`${recording.name} ${root.key}`, recording, root] as const);
  });

  it.each(all)(
    '[OC1] %s: each text, call, result, approval and model request comes once, in order',
    (_, recording, root) => {
      const { events } = play(recording, root.id);
      expect(findDisorder(events)).toEqual([]);
      expect(findOpen(events)).toEqual([]);
      for (const thread of threadsBelow(recording, root)) {
        const own = events.filter(({ key }) => key === keyOf(thread, root));
        expect(blocksOf(own)).toEqual(thread.blocks.filter(({ deltas }) => deltas !== 0).map(toBlock));
        expect(callsOf(own)).toEqual(thread.calls.map(toCall));
        expect(requestsOf(own)).toEqual(toRequests(thread, own));
        expect(usageOf(own)).toEqual(toUsage(thread, own));
      }
    },
  );

  it.each(all)('[MX200] %s: output that grows while a command runs is that of its result', (_, recording, root) => {
    const { events } = play(recording, root.id);
    const shown = new Map<string, string>();
    for (const event of events)
      if (event.type === 'output_delta') shown.set(event.callId, (shown.get(event.callId) ?? '') + event.text);
    for (const [callId, text] of shown) {
      const result = events.find((event) => event.type === 'result' && event.callId === callId);
      const whole = result?.type === 'result' && result.content[0]?.type === 'text' ? result.content[0].text : '';
      // Long output is cut in both, to its end.
      expect(whole.includes(text) || text.length > 20_000 || whole.includes('aborted')).toBe(true);
    }
    if (recording.name === 'tool-call') expect(shown.size).toBeGreaterThan(0);
  });

  it.each(all)(
    '[OC2] %s: sub-agents are threads below the one that made them, opened by its call',
    (_, recording, root) => {
      const { events } = play(recording, root.id);
      const opened = events.flatMap((event) => (event.type === 'thread_opened' ? [event] : []));
      const children = threadsBelow(recording, root).filter((thread) => thread !== root);
      const keys = new Map(recording.expected.threads.map(({ key, id }) => [key, id === root.id ? 'main' : id]));
      expect(
        opened.map(({ key, parentKey, callId, agentName, description, prompt }) => ({
          key,
          parentKey,
          callId,
          title: `${description} (@${agentName} subagent)`,
          prompt,
        })),
      ).toEqual(
        children.map(({ id, parent, openedBy, title, said }) => ({
          key: id,
          parentKey: keys.get(parent ?? ''),
          callId: openedBy,
          title,
          prompt: said[0],
        })),
      );
      for (const { id, said } of children) {
        const runs = events.flatMap((event) =>
          event.type === 'thread_started' && event.key === id ? [event.prompt] : [],
        );
        expect(runs).toEqual(said.slice(1));
      }
    },
  );

  it.each(all)(
    '[OC3] %s: approvals belong to their calls, and are answered as they were decided',
    (_, recording, root) => {
      const { events, replies, sent } = play(recording, root.id);
      const below = threadsBelow(recording, root);
      const expected = recording.expected.asks.filter(({ session }) => below.some(({ key }) => key === session));
      const asks = events.flatMap((event) => (event.type === 'ask' ? [event] : []));
      expect(asks.map(({ key, callId, kind }) => ({ key, callId, kind }))).toEqual(
        expected.map(({ session, callID, kind }) => ({
          key: keyOf(below.find(({ key }) => key === session)!, root),
          callId: callID,
          kind: kind === 'question' ? 'question' : 'tool',
        })),
      );
      expect(replies.map(({ requestId }) => requestId)).toEqual(sent.map(({ requestId }) => requestId));
      for (const [at, { reply }] of replies.entries()) {
        const { body } = sent[at]!;
        if (reply.type === 'answers') expect(reply.answers).toEqual(body['answers']);
        else
          expect([reply.type, 'message' in reply ? (reply.message ?? undefined) : undefined]).toEqual([
            body['reply'],
            body['message'],
          ]);
      }
    },
  );

  it.each(all)(
    '[OC4] %s: every message is one turn with one end; retries and failures have their reasons',
    (_, recording, root) => {
      const { events } = play(recording, root.id);
      const below = threadsBelow(recording, root);
      const turns = events.flatMap((event) => (event.type === 'turn_ended' ? [event.outcome] : []));
      const reported = recording.expected.retriesAndErrors.filter(({ thread }) =>
        below.some(({ key }) => key === thread),
      );
      expect(events.filter(({ type }) => type === 'turn_started')).toHaveLength(turns.length);
      const retries = events.flatMap((event) => (event.type === 'retry' ? [event.message] : []));
      expect(retries).toEqual(reported.flatMap(({ retry, message }) => (retry === undefined ? [] : [message])));
      const failed = turns.flatMap((outcome) =>
        'message' in outcome && outcome.type !== 'limit' ? [outcome.message] : [],
      );
      const errors = reported.flatMap(({ thread, error, message }) =>
        error === undefined || error === 'MessageAbortedError' || thread !== root.key ? [] : [message],
      );
      // A response that is too long is not an error for opencode.
      const tooLong = root.requests.flatMap(({ finish }) =>
        finish === 'length' ? [expect.stringMatching(/limit/)] : [],
      );
      expect(failed).toHaveLength(errors.length + tooLong.length);
      expect(failed).toEqual(expect.arrayContaining([...errors, ...tooLong]));
      const aborted = reported.filter(({ thread, error }) => thread === root.key && error === 'MessageAbortedError');
      expect(turns.filter(({ type }) => type === 'stopped').length).toBeGreaterThanOrEqual(aborted.length);
    },
  );
});

/** The threads of one conversation, parents first. */
function threadsBelow({ expected }: OpencodeRecording, root: ExpectedThread): ExpectedThread[] {
  const keys = new Set([root.key]);
  return expected.threads.filter(({ key, parent }) => {
    if (parent !== null && keys.has(parent)) keys.add(key);
    return keys.has(key);
  });
}

function keyOf({ id }: ExpectedThread, root: ExpectedThread): string {
  return id === root.id ? 'main' : id;
}

/** Blocks in the order in which they began: what they grew to, in how many pieces, and whether they were whole. */
function blocksOf(events: readonly ProgramEvent[]): unknown[] {
  const blocks = new Map<string, { kind: string; text?: string; deltas: number; grown: string }>();
  for (const event of events) {
    if (event.type === 'block_started') blocks.set(event.block, { kind: event.kind, deltas: 0, grown: '' });
    const block = 'block' in event ? blocks.get(event.block) : undefined;
    if (block === undefined) continue;
    if (event.type === 'block_delta') {
      block.deltas++;
      block.grown += event.text;
    }
    if (event.type !== 'block_ended') continue;
    block.text =
      'text' in event.content ? event.content.text : 'thinking' in event.content ? event.content.thinking : '';
    expect(block.grown).toBe(block.text);
  }
  return [...blocks.values()].map(({ kind, text, deltas }) =>
    text === undefined ? { kind, void: true } : { kind, text, deltas },
  );
}

function toBlock({ kind, text, deltas, void: isVoid }: ExpectedThread['blocks'][number]): unknown {
  // The last delta of a thought is empty, which is not an event.
  const pieces = (deltas ?? 0) - (kind === 'thinking' ? 1 : 0);
  return isVoid === true ? { kind, void: true } : { kind, text, deltas: pieces };
}

/** Calls in their order, each with its only result. */
function callsOf(events: readonly ProgramEvent[]): unknown[] {
  const results = events.flatMap((event) => (event.type === 'result' ? [event] : []));
  return events.flatMap((event) => {
    if (event.type !== 'call') return [];
    const own = results.filter(({ callId }) => callId === event.callId);
    expect(own).toHaveLength(1);
    const [first] = own[0]!.content;
    const output = first?.type === 'text' ? first.text : '';
    // A call id that a model has used before has the id of its part behind it.
    return [{ id: event.callId.split('.')[0], tool: event.name, input: event.input, output }];
  });
}

function toCall({ id, tool, input, output }: ExpectedThread['calls'][number]): unknown {
  return { id, tool, input, output: output ?? '' };
}

/** Attempts that were sent again are left out. */
function requestsOf(events: readonly ProgramEvent[]): unknown[] {
  const ends = events.filter(({ type }) => type === 'request_ended' || type === 'retry');
  return ends.flatMap((event, at) => {
    if (event.type !== 'request_ended' || ends[at + 1]?.type === 'retry') return [];
    const { model, stopReason, isError } = event;
    return [{ model, stopReason, isError }];
  });
}

/** The history of a fork, and a request that was aborted while it waited to be sent again, have no request of their own. */
function toRequests(thread: ExpectedThread, own: readonly ProgramEvent[]): unknown[] {
  const sent = toSent(thread, own).filter(({ finish, error }) => finish !== null || error !== undefined);
  return sent.map(({ model, finish, error }) => ({
    model,
    stopReason: finish === null ? null : stopReasons[finish],
    isError: error !== undefined || finish === 'length' || finish === 'content-filter',
  }));
}

function toSent({ requests, blocks }: ExpectedThread, own: readonly ProgramEvent[]): ExpectedThread['requests'] {
  const copied = blocks.some(({ deltas }) => deltas === 0) ? requests.length - requestsOf(own).length : 0;
  return requests.slice(copied);
}

/** Of all requests: that of a request whose call waits for an approval is reported with the next one. */
function usageOf(events: readonly ProgramEvent[]): unknown {
  const used = events.flatMap((event) => (event.type === 'request_ended' ? [event.usage] : []));
  return {
    input: used.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    output: used.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  };
}

function toUsage(thread: ExpectedThread, own: readonly ProgramEvent[]): unknown {
  const sent = toSent(thread, own);
  return {
    input: sent.reduce((sum, { tokens }) => sum + tokens.input, 0),
    output: sent.reduce((sum, { tokens }) => sum + tokens.output, 0),
  };
}

const stopReasons: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'content-filter': 'refusal',
};

/** What a turn or thread left open at its end. */
function findOpen(events: readonly ProgramEvent[]): string[] {
  const open = new Map<string, string>();
  const problems: string[] = [];
  for (const event of events) {
    if (event.type === 'call') open.set(`call ${event.callId}`, event.key);
    if (event.type === 'result') open.delete(`call ${event.callId}`);
    if (event.type === 'request_started') open.set(`request of ${event.key}`, event.key);
    if (event.type === 'request_ended') open.delete(`request of ${event.key}`);
    if (event.type !== 'turn_ended' && event.type !== 'thread_ended') continue;
    for (const [what, key] of open) if (key === event.key) problems.push(`${event.type} with an open ${what}`);
  }
  return [...problems, ...open.keys()];
}
