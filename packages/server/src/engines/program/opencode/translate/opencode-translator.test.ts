import { describe, expect, it } from 'vitest';
import { agent, toolset } from '../../suite/conversation.suite.ts';
import { findDisorder } from '../../suite/find-disorder.suite.ts';
import type { ProgramEvent } from '../../program.ts';
import { OpencodeTranslator, type TranslatorOptions } from './opencode-translator.ts';
import type { MessageInfo, OpencodeError, OpencodeEvent, Part, ToolState } from '../wire/events.ts';

it('[MX200, MX201] of output that is sent again and again the new part is shown, and todos are a plan', () => {
  const { take } = create();
  take(busy(), answer('msg_2'), tool('prt_1', { status: 'running' }));
  const grow = (shown: string) =>
    take(tool('prt_1', { status: 'running', shown })).map((event) =>
      event.type === 'output_delta' ? event.text : event,
    );
  expect(grow('one\n')).toEqual(['one\n']);
  expect(grow('one\n')).toEqual([]);
  expect(grow('one\ntwo\n')).toEqual(['two\n']);
  const long = Array.from({ length: 100 }, (_, at) => `line ${at}\n`).join('');
  expect(grow(`one\ntwo\n${long}`)).toEqual([long]);
  // Of a long output opencode sends the end.
  expect(grow(`...\n${long.slice(100)}end\n`)).toEqual(['end\n']);
  expect(grow('All of it is new.')).toEqual(['All of it is new.']);
  expect(take(tool('prt_1', { status: 'completed', output: 'All.' })).map(({ type }) => type)).toEqual(['result']);
  const todos = [{ content: 'Look', status: 'in_progress', priority: 'high', id: '1' }];
  expect(take({ type: 'todos', sessionId: MAIN_ID, todos })).toEqual([
    { type: 'plan', key: 'main', items: [{ text: 'Look', status: 'in_progress' }] },
  ]);
});

describe('ends of runs', () => {
  it('[OC5] an end that is reported while a message is open is not the end of the turn; the second report is, and a third is nothing', () => {
    const { take, translator } = create();
    take(busy(), answer('msg_2'), text('prt_1', { text: 'One t' }), failure(aborted));
    expect(take(idle())).toEqual([]);
    expect([translator.isMainSettling, translator.settling]).toEqual([
      true,
      [{ conversation: MAIN_ID, isRunning: true }],
    ]);
    take(text('prt_1', { text: 'One t', isWhole: true }), answer('msg_2', { error: aborted, isCompleted: true }));
    expect(take(idle())).toEqual([expect.objectContaining({ type: 'turn_ended', outcome: { type: 'stopped' } })]);
    expect(take(idle(), idle())).toEqual([]);
    expect(translator.isMainSettling).toBe(false);
  });

  it('[OC5] a failed turn whose message is complete ends with the first report, and messages wait for the second one or its limit', () => {
    const { take, translator } = create();
    const fail = () =>
      take(
        busy(),
        answer('msg_2'),
        failure(apiError(400)),
        answer('msg_2', { error: apiError(400), isCompleted: true }),
        idle(),
      );
    expect(fail().at(-1)).toMatchObject({ type: 'turn_ended' });
    expect([translator.isMainSettling, translator.settling]).toEqual([
      true,
      [{ conversation: MAIN_ID, isRunning: false }],
    ]);
    expect(take(idle())).toEqual([]);
    expect(translator.isMainSettling).toBe(false);
    take(
      busy(),
      answer('msg_3'),
      failure(apiError(400)),
      answer('msg_3', { error: apiError(400), isCompleted: true }),
      idle(),
    );
    expect(translator.settle(MAIN_ID)).toEqual([]);
    expect(translator.isMainSettling).toBe(false);
  });

  it('[OC5] the second report of an earlier turn does not end the turn that works by then', () => {
    const { take, translator } = create();
    take(busy(), answer('msg_2'));
    // Opencode says that it works before each attempt.
    expect(take(idle(), busy())).toEqual([]);
    expect(translator.isMainSettling).toBe(false);
    take(idle());
    translator.unsettle(MAIN_ID);
    expect(take(answer('msg_2', { finish: 'stop', isCompleted: true }), idle()).at(-1)).toMatchObject({
      outcome: { type: 'done' },
    });
  });

  it('[OC5] without a second report the turn ends when it is given up, and what was open of it has an end', () => {
    const { take, translator, events } = create();
    take(busy(), answer('msg_2'), tool('prt_1', { status: 'running' }), failure(aborted), idle());
    const ended = translator.settle(MAIN_ID);
    expect(ended.map(({ type }) => type)).toEqual(['request_ended', 'result', 'turn_ended']);
    expect(ended).toMatchObject([{ isError: true }, { isError: true }, { outcome: { type: 'stopped' } }]);
    expect(findDisorder([...events, ...ended])).toEqual([]);
  });

  it('[OC5] a run that begins ends the failed one whose second report is missing', () => {
    const { take } = create();
    take(busy(), answer('msg_2'), failure(aborted), idle());
    expect(take(busy()).map(({ type }) => type)).toEqual(['request_ended', 'turn_ended', 'turn_started']);
  });

  it('[OC6] an abort while opencode waits to send a request again stops the turn, although no error is reported', () => {
    const { take } = create();
    take(busy(), answer('msg_2'), retry('slow down'), answer('msg_2', { isCompleted: true }));
    expect(take(idle())).toMatchObject([{ type: 'turn_ended', outcome: { type: 'stopped' } }]);
  });

  it('[OC6] the outcome of a turn is that of its last message', () => {
    const outcomes = (
      [
        [{ finish: 'stop' }, { type: 'done' }],
        [{ finish: 'tool-calls' }, { type: 'stopped' }],
        [{ finish: 'length' }, { type: 'failed', reason: 'request_failed' }],
        [{ finish: 'content-filter' }, { type: 'refused' }],
        [{ error: apiError(400) }, { type: 'failed', reason: 'request_failed' }],
        [{ error: apiError(401) }, { type: 'failed', reason: 'authentication' }],
        [{ error: apiError(402) }, { type: 'failed', reason: 'billing' }],
        [{ error: apiError(400, 'Your credit balance is too low') }, { type: 'failed', reason: 'billing' }],
        [{ error: apiError(429) }, { type: 'failed', reason: 'rate_limited' }],
        [{ error: apiError(529) }, { type: 'failed', reason: 'overloaded' }],
        [{ error: { name: 'UnknownError', message: 'x', statusCode: null } }, { type: 'failed', reason: 'unknown' }],
      ] as const
    ).map(([change, expected]) => {
      const { take } = create();
      take(busy(), answer('msg_2'), answer('msg_2', { ...change, isCompleted: true }));
      const ended = take(idle()).at(-1);
      return [ended?.type === 'turn_ended' ? ended.outcome : ended, expected] as const;
    });
    for (const [outcome, expected] of outcomes) expect(outcome).toMatchObject(expected);
  });

  it('[OC6] an error before any model request is a turn that failed', () => {
    const { take, translator } = create();
    translator.said('msg_1');
    const error = { name: 'ProviderModelNotFoundError', message: 'no such model', statusCode: null };
    expect(take({ type: 'error', sessionId: MAIN_ID, error })).toMatchObject([
      { type: 'turn_started' },
      { type: 'turn_ended', outcome: { type: 'failed', message: 'no such model' }, isMoreToCome: false },
    ]);
    expect(take(idle())).toEqual([]);
  });
});

describe('model requests', () => {
  it('[OC7] an attempt that is cut ends as an error, its block is void, and the next attempt has a request and a block of its own', () => {
    const { take, events } = create();
    take(busy(), answer('msg_2'), text('prt_1'), delta('prt_1', 'One t'), retry('Connection reset'), busy());
    take(text('prt_2'), delta('prt_2', 'One two'), text('prt_2', { text: 'One two', isWhole: true }));
    // Too late: the attempt has failed.
    take(delta('prt_1', 'wo'), text('prt_1', { text: 'One two', isWhole: true }));
    take(answer('msg_2', { finish: 'stop', isCompleted: true }), idle());
    expect(findDisorder(events)).toEqual([]);
    expect(events.map((event) => ('block' in event ? `${event.type} ${event.block}` : event.type))).toEqual([
      'turn_started',
      'request_started',
      'block_started prt_1',
      'block_delta prt_1',
      'request_ended',
      'retry',
      'request_started',
      'block_started prt_2',
      'block_delta prt_2',
      'block_ended prt_2',
      'request_ended',
      'turn_ended',
    ]);
  });

  it('[OC7] a retry has the time until the next attempt, and the status that the gateway has seen', () => {
    const { take } = create({ statusOf: (message) => (message === 'slow down' ? 429 : null) });
    take(busy(), answer('msg_2'));
    expect(take(retry('slow down', NOW + 2_000)).at(-1)).toMatchObject({ status: 429, delayMs: 2_000, retriesMax: 3 });
    expect(take(retry('Connection reset', NOW - 1)).at(-1)).toMatchObject({ status: null, delayMs: 0 });
  });

  it('[OC7] a request that was sent again too often aborts the run, and the turn fails with what the endpoint said', () => {
    const aborts: string[] = [];
    const { take, events } = create({ onGiveUp: (conversation) => aborts.push(conversation) });
    take(busy(), answer('msg_2'), retry('Overloaded', null, 3));
    expect([aborts, events.at(-1)?.type]).toEqual([[], 'retry']);
    take(retry('Overloaded', null, 4));
    expect([aborts, events.filter(({ type }) => type === 'retry').length]).toEqual([[MAIN_ID], 1]);
    const ended = take(failure(aborted), answer('msg_2', { error: aborted, isCompleted: true }), idle()).at(-1);
    expect(ended).toMatchObject({ outcome: { type: 'failed', reason: 'overloaded', message: 'Overloaded' } });
  });

  it('[OC7] the usage of a message is reported once, with reasoning as output', () => {
    const { take, events } = create();
    const tokens = { input: 10, output: 5, reasoning: 7, cacheRead: 3, cacheWrite: 2 };
    const whole = { finish: 'stop', isCompleted: true, tokens };
    take(
      busy(),
      answer('msg_2'),
      answer('msg_2', { finish: 'stop', tokens }),
      answer('msg_2', whole),
      answer('msg_2', whole),
    );
    const ends = events.filter(({ type }) => type === 'request_ended');
    const usage = {
      inputTokens: 10,
      outputTokens: 12,
      cacheReadTokens: 3,
      cacheWrite5mTokens: 2,
      cacheWrite1hTokens: 0,
    };
    expect(ends).toMatchObject([{ usage, stopReason: 'end_turn', isError: false }]);
  });

  it('[OC8] a message of a run that is complete when it is first seen still has its parts and its usage', () => {
    const { take, events } = create();
    const tokens = { input: 10, output: 5, reasoning: 0, cacheRead: 0, cacheWrite: 0 };
    const whole = answer('msg_2', { finish: 'stop', isCompleted: true, tokens });
    take(
      busy(),
      whole,
      busy(),
      text('prt_1'),
      delta('prt_1', 'One'),
      text('prt_1', { text: 'One', isWhole: true }),
      finish(),
      whole,
      whole,
      idle(),
    );
    expect(events.map(({ type }) => type)).toEqual([
      'turn_started',
      'request_started',
      'block_started',
      'block_delta',
      'block_ended',
      'request_ended',
      'turn_ended',
    ]);
    expect(events.at(-2)).toMatchObject({ usage: { inputTokens: 10, outputTokens: 5 }, isError: false });
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'done' } });
    // Without a further report of the message it ends with the run.
    expect(
      take(busy(), answer('msg_3', { finish: 'stop', isCompleted: true, tokens }), idle()).slice(-2),
    ).toMatchObject([
      { type: 'request_ended', isError: false },
      { type: 'turn_ended', outcome: { type: 'done' } },
    ]);
  });

  it('[OC8] messages that are complete when they are first seen while no agent works are history, and so are those that were there at the start', () => {
    const { take, events } = create({ history: new Set(['msg_1']) });
    take(
      answer('msg_0', { finish: 'stop', isCompleted: true }),
      text('prt_0', { text: 'Old.', isWhole: true }, 'msg_0'),
    );
    take(
      answer('msg_1'),
      text('prt_1', { text: 'Killed', isWhole: true }, 'msg_1'),
      answer('msg_1', { isCompleted: true }),
    );
    expect(events).toEqual([]);
  });
});

describe('agents that wait for a client', () => {
  it('[OC29] a request whose calls all wait for a client ends before, and its usage is part of the next one', () => {
    const { take, events } = create();
    const tokens = { input: 10, output: 5, reasoning: 0, cacheRead: 0, cacheWrite: 0 };
    take(busy(), answer('msg_2'), tool('prt_1', { status: 'running' }), ask('per_1'));
    expect(events.at(-1)).toMatchObject({
      type: 'request_ended',
      stopReason: 'tool_use',
      isError: false,
      usage: { inputTokens: 0 },
    });
    take(
      busy(),
      tool('prt_1', { status: 'completed', output: 'x' }),
      answer('msg_2', { finish: 'tool-calls', isCompleted: true, tokens }),
    );
    expect(events.at(-1)?.type).toBe('result');
    take(answer('msg_3'), answer('msg_3', { finish: 'stop', isCompleted: true, tokens }), idle());
    expect(findDisorder(events)).toEqual([]);
    const ends = events.flatMap((event) => (event.type === 'request_ended' ? [event.usage.inputTokens] : []));
    expect(ends).toEqual([0, 20]);
  });

  it('[OC29] usage of a turn that a denial has ended is part of the first request of the next turn', () => {
    const { take, events } = create();
    const tokens = { input: 10, output: 5, reasoning: 0, cacheRead: 0, cacheWrite: 0 };
    const done = { finish: 'stop', isCompleted: true, tokens };
    take(busy(), answer('msg_2'), tool('prt_1', { status: 'running' }), ask('per_1'));
    take(tool('prt_1', { status: 'error', output: 'no' }), answer('msg_2', { ...done, finish: 'tool-calls' }), idle());
    take(busy(), answer('msg_3'), answer('msg_3', done), idle());
    const ends = events.flatMap((event) => (event.type === 'request_ended' ? [event.usage.inputTokens] : []));
    expect(ends).toEqual([0, 20]);
  });

  it('[OC29] the agent above one that waits ends its request, too, unless it has other work', () => {
    for (const hasOther of [false, true]) {
      const { take, events } = create();
      const session = { id: 'ses_child', parentId: MAIN_ID, title: 'look (@worker subagent)', agent: null };
      const task = tool('prt_1', { status: 'running', childId: 'ses_child' });
      take(
        busy(),
        answer('msg_2'),
        { type: 'session', session },
        { ...task, part: { ...task.part, tool: 'task' } as Part },
      );
      if (hasOther) take(tool('prt_9', { status: 'running' }, 'msg_2', 'call_9'));
      const of = (part: { part: Part }): OpencodeEvent => ({
        type: 'part',
        part: { ...part.part, sessionId: 'ses_child' } as Part,
      });
      take({ type: 'status', sessionId: 'ses_child', status: { type: 'busy' } });
      take({ type: 'message', message: { ...info('msg_5'), sessionId: 'ses_child' } });
      take(of(tool('prt_5', { status: 'running' }, 'msg_5', 'call_5')));
      take({ type: 'asked', request: { ...ask('per_1', 'call_5').request, sessionId: 'ses_child' } });
      const ended = events.flatMap((event) => (event.type === 'request_ended' ? [event.key] : []));
      expect(ended).toEqual(hasOther ? ['ses_child'] : ['ses_child', 'main']);
    }
  });
});

describe('calls', () => {
  it('[OC9] a failed or aborted command is an error, although opencode has completed it', () => {
    const isErrorOf = (state: Partial<ToolState>) => {
      const { take, events } = create();
      take(busy(), answer('msg_2'), tool('prt_1', { status: 'completed', ...state }));
      return events.flatMap((event) => (event.type === 'result' ? [event.isError] : []));
    };
    const abort = '(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>';
    expect(isErrorOf({ output: 'fine', exit: 0 })).toEqual([false]);
    expect(isErrorOf({ output: '', exit: 3 })).toEqual([true]);
    expect(isErrorOf({ output: abort })).toEqual([true]);
    // The words of a command are not those of opencode.
    expect(isErrorOf({ output: 'User aborted the command', exit: 0 })).toEqual([false]);
    expect(isErrorOf({ status: 'error', output: 'Task cancelled' })).toEqual([true]);
  });

  it('[OC9] a call id that was used before gets the id of its part, so that a decision belongs to one call', () => {
    const { take, events } = create();
    take(busy(), answer('msg_2'), tool('prt_1', { status: 'running' }), tool('prt_2', { status: 'running' }));
    expect(events.flatMap((event) => (event.type === 'call' ? [event.callId] : []))).toEqual([
      'call_1',
      'call_1.prt_2',
    ]);
  });

  it('[OC10] an approval that is requested before its call is announced behind it, and once', () => {
    const { take, events } = create();
    const request = ask('per_1');
    take(busy(), answer('msg_2'), tool('prt_1', { status: 'pending' }), request);
    expect(events.map(({ type }) => type)).toEqual(['turn_started', 'request_started']);
    take(tool('prt_1', { status: 'running' }), request);
    expect(events.slice(2).map(({ type }) => type)).toEqual(['call', 'ask', 'request_ended']);
    take(tool('prt_1', { status: 'error', output: 'Aborted' }));
    expect(events.slice(5)).toMatchObject([
      { type: 'ask_withdrawn', callId: 'call_1' },
      { type: 'result', isError: true },
    ]);
  });
});

describe('sub-agents', () => {
  it('[OC11] a sub-agent whose call was not seen is opened by its first event, with what its title says', () => {
    const { take, events } = create();
    take(busy(), answer('msg_2'), {
      type: 'session',
      session: { id: 'ses_child', parentId: MAIN_ID, title: 'look (@worker subagent)', agent: null },
    });
    expect(events).toHaveLength(2);
    take({ type: 'status', sessionId: 'ses_child', status: { type: 'busy' } });
    const opened = {
      type: 'thread_opened',
      key: 'ses_child',
      parentKey: 'main',
      agentName: 'worker',
      description: 'look',
      callId: null,
    };
    expect(events[2]).toMatchObject(opened);
    take({ type: 'idle', sessionId: 'ses_child' });
    expect(events.at(-1)).toMatchObject({ type: 'thread_ended', key: 'ses_child' });
  });

  it('[OC11] a sub-agent of an earlier process is opened again with its first run, and conversations of others are passed over', () => {
    const { take, events } = create({ known: ['ses_known'] });
    const said: MessageInfo = { role: 'user', id: 'msg_5', sessionId: 'ses_known' };
    const part: Part = { ...text('prt_5', { text: 'More.' }, 'msg_5').part, sessionId: 'ses_known' };
    take(
      { type: 'message', message: said },
      { type: 'part', part },
      { type: 'status', sessionId: 'ses_known', status: { type: 'busy' } },
    );
    expect(events).toMatchObject([{ type: 'thread_opened', key: 'ses_known', parentKey: 'main', callId: null }]);
    take(
      { type: 'status', sessionId: 'ses_other', status: { type: 'busy' } },
      { type: 'idle', sessionId: 'ses_other' },
    );
    expect(events).toHaveLength(1);
  });
});

describe('a break of the stream', () => {
  it('[OC12] missed events are emitted once: a message that was written in between, the rest of an open one, an approval, the end', () => {
    const { take, translator, events } = create();
    take(busy(), answer('msg_2'), text('prt_1'), delta('prt_1', 'One'));
    const before = events.length;
    const missed = translator.catchUp({
      conversation: MAIN_ID,
      status: { type: 'busy' },
      children: [],
      messages: [
        {
          message: info('msg_2', { finish: 'tool-calls', isCompleted: true }),
          parts: [
            text('prt_1', { text: 'One two', isWhole: true }).part,
            tool('prt_2', { status: 'completed', output: 'x' }).part,
          ],
        },
        {
          message: info('msg_3'),
          parts: [
            text('prt_3', { text: 'Th' }, 'msg_3').part,
            tool('prt_4', { status: 'running' }, 'msg_3', 'call_2').part,
          ],
        },
      ],
      asks: [ask('per_1', 'call_2').request],
    });
    events.push(...missed);
    expect(findDisorder(events)).toEqual([]);
    expect(events.slice(before).map(({ type }) => type)).toEqual([
      'block_ended',
      'call',
      'result',
      'request_ended',
      'request_started',
      'block_started',
      'block_delta',
      'call',
      'ask',
    ]);
    const end = { conversation: MAIN_ID, status: { type: 'idle' } as const, children: [], messages: [], asks: [] };
    expect(translator.catchUp(end).at(-1)).toMatchObject({ type: 'turn_ended' });
    expect(translator.catchUp(end)).toEqual([]);
  });

  it('[OC12] a whole turn that passed in between is emitted whole', () => {
    const { translator } = create();
    const events = translator.catchUp({
      conversation: MAIN_ID,
      status: { type: 'idle' },
      children: [],
      messages: [
        {
          message: info('msg_2', { finish: 'stop', isCompleted: true }),
          parts: [text('prt_1', { text: 'Done.', isWhole: true }).part],
        },
      ],
      asks: [],
    });
    expect(events.map(({ type }) => type)).toEqual([
      'turn_started',
      'request_started',
      'block_started',
      'block_ended',
      'request_ended',
      'turn_ended',
    ]);
  });
});

describe('messages', () => {
  it('[OC13] a message is answered by a message of the assistant that knows it or a later one; a turn that ends before has more to come', () => {
    const { take, translator } = create();
    for (const id of ['msg_1', 'msg_3', 'msg_5']) translator.said(id);
    take(busy(), { type: 'message', message: { ...info('msg_4'), parentId: 'msg_3' } as MessageInfo });
    expect(translator.unanswered).toEqual(['msg_5']);
    take(answer('msg_4', { finish: 'stop', isCompleted: true }));
    expect(take(idle())).toMatchObject([{ type: 'turn_ended', isMoreToCome: true }]);
  });

  it('[OC13] a message that could not be sent is a turn that failed, with the reason', () => {
    const { translator } = create();
    translator.said('msg_1');
    expect(translator.failSaid('msg_1', 'no answer')).toMatchObject([
      { type: 'turn_started' },
      { type: 'turn_ended', outcome: { type: 'failed', message: 'no answer' }, isMoreToCome: false },
    ]);
  });
});

const MAIN_ID = 'ses_main';
const NOW = 1_000_000;
const aborted: OpencodeError = { name: 'MessageAbortedError', message: 'Aborted', statusCode: null };

function create(changes: Partial<TranslatorOptions> = {}) {
  const pending = new Set<string>();
  const translator = new OpencodeTranslator({
    conversation: MAIN_ID,
    agent: agent({ tools: [toolset('always_ask')] }),
    members: [],
    known: [],
    now: () => NOW,
    retriesMax: 3,
    statusOf: () => null,
    onGiveUp: () => {},
    onAsk: (_, callId) => {
      pending.add(callId);
      return true;
    },
    onCallEnd: (callId) => pending.delete(callId),
    ...changes,
  });
  const events: ProgramEvent[] = [];
  const take = (...taken: readonly OpencodeEvent[]) => {
    const made = taken.flatMap((event) => translator.take(event));
    events.push(...made);
    return made;
  };
  return { translator, events, take };
}

function busy(): OpencodeEvent {
  return { type: 'status', sessionId: MAIN_ID, status: { type: 'busy' } };
}

function retry(message: string, next: number | null = null, attempt = 1): OpencodeEvent {
  return { type: 'status', sessionId: MAIN_ID, status: { type: 'retry', attempt, message, next } };
}

function idle(): OpencodeEvent {
  return { type: 'idle', sessionId: MAIN_ID };
}

function failure(error: OpencodeError): OpencodeEvent {
  return { type: 'error', sessionId: MAIN_ID, error };
}

function info(id: string, changes: object = {}): MessageInfo {
  const tokens = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 };
  const empty = { parentId: null, model: 'mock', finish: null, error: null, isCompleted: false, tokens };
  return { role: 'assistant', id, sessionId: MAIN_ID, ...empty, ...changes };
}

function answer(id: string, changes: object = {}): OpencodeEvent {
  return { type: 'message', message: info(id, changes) };
}

function text(id: string, changes: object = {}, messageId = 'msg_2') {
  const part = {
    id,
    messageId,
    sessionId: MAIN_ID,
    type: 'text',
    text: '',
    isWhole: false,
    isSynthetic: false,
    ...changes,
  } as Part;
  return { type: 'part' as const, part };
}

function finish(): OpencodeEvent {
  return { type: 'part', part: { id: 'prt_end', messageId: 'msg_2', sessionId: MAIN_ID, type: 'step-finish' } };
}

function delta(partId: string, piece: string): OpencodeEvent {
  return { type: 'delta', sessionId: MAIN_ID, messageId: 'msg_2', partId, text: piece };
}

function tool(id: string, state: Partial<ToolState>, messageId = 'msg_2', callId = 'call_1') {
  const whole: ToolState = {
    status: 'pending',
    input: { command: 'ls' },
    output: '',
    shown: '',
    exit: null,
    childId: null,
    ...state,
  };
  const part: Part = { id, messageId, sessionId: MAIN_ID, type: 'tool', tool: 'bash', callId, state: whole };
  return { type: 'part' as const, part };
}

function ask(id: string, callId = 'call_1') {
  const request = { kind: 'permission' as const, id, sessionId: MAIN_ID, callId, permission: 'bash', questions: [] };
  return { type: 'asked' as const, request };
}

function apiError(statusCode: number, message = 'refused'): OpencodeError {
  return { name: 'APIError', message, statusCode };
}
