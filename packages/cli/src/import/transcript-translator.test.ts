import { describe, expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import { MAIN, type Step } from './step.ts';
import { readRecord } from './transcript-record.ts';
import { type AgentMeta, TranscriptTranslator } from './transcript-translator.ts';

const T = '2026-01-01T00:00:00.000Z';

describe('when a turn is over', () => {
  it('[J150] a turn ends when the model has finished and a message follows, or no line follows for a while', () => {
    const { take, rest } = translate();
    expect(types(take(user('Hi')))).toEqual(['said 1']);
    expect(types(take(answer('m1', text('Hello'), 'end_turn')))).toEqual(['request_started 2', 'block 2']);
    expect(types(take(user('Again')))).toEqual(['request_ended 2', 'turn_ended 2', 'said 3']);
    take(answer('m2', text('Yes'), 'end_turn'));
    expect(types(rest())).toEqual(['request_ended 4', 'turn_ended 4']);
    expect(rest()).toEqual([]);
    // Notes of the program in between change nothing.
    expect(take({ type: 'last-prompt' })).toEqual([]);
    expect(types(take(answer('m3', text('On its own'), 'end_turn')))).toEqual([
      'turn_started 6',
      'request_started 6',
      'block 6',
    ]);
  });

  it('[J150] it is not over while a call is open or the model was only cut off', () => {
    const { take, rest } = translate();
    take(user('Hi'));
    take(answer('m1', call('c1', 'Bash'), 'tool_use'));
    expect(rest()).toEqual([]);
    expect(types(take(result('c1', 'done')))).toEqual(['request_ended 2', 'result 3']);
    take(answer('m2', text('Long'), 'max_tokens'));
    expect(rest()).toEqual([]);
    expect(types(take(answer('m3', text('Rest'), 'end_turn')))).toEqual([
      'request_ended 4',
      'request_started 5',
      'block 5',
    ]);
  });

  it('[J150] the usage of a message is reported once, also if a result arrives before its last line', () => {
    const { take } = translate();
    take(user('Hi'));
    take(answer('m1', call('c1', 'Bash'), null, { output_tokens: 7 }));
    expect(take(result('c1', 'quick'))[0]?.event).toMatchObject({ type: 'request_ended', usage: { output_tokens: 7 } });
    const late = take(answer('m1', call('c2', 'Bash'), 'tool_use', { output_tokens: 7 }));
    expect(types(late)).toEqual(['request_started 4', 'call 4']);
    expect(take(result('c2', 'slow'))[0]?.event).toMatchObject({ type: 'request_ended', usage: { output_tokens: 0 } });
    expect(types(take(answer('m2', text('Done'), 'end_turn')))).toEqual(['request_started 6', 'block 6']);
  });

  it('[J150] lines of one message are one model request, whatever each line has as its end', () => {
    const { take, rest } = translate();
    take(user('Hi'));
    const steps = [
      ...take(answer('m1', { type: 'thinking', thinking: 'Hm', signature: 'x' }, 'end_turn')),
      ...take(answer('m1', text(''), 'end_turn')),
      ...take(answer('m1', text('Yes'), 'end_turn', { output_tokens: 7 })),
      ...rest(),
    ];
    expect(types(steps)).toEqual(['request_started 2', 'block 2', 'block 4', 'request_ended 4', 'turn_ended 4']);
    expect(steps[3]?.event).toMatchObject({ usage: { output_tokens: 7 }, stop_reason: 'end_turn', is_error: false });
  });

  it.each([
    ['an interrupt', user('[Request interrupted by user for tool use]'), { type: 'stopped' }],
    [
      'an error',
      { ...answer('x', text('API Error: 400'), null), isApiErrorMessage: true },
      { type: 'failed', message: 'API Error: 400' },
    ],
  ])('[J151] %s ends it too', (_, line, outcome) => {
    const { take } = translate();
    take(user('Hi'));
    take(answer('m1', call('c1', 'Bash'), 'tool_use'));
    expect(take(line).at(-1)).toMatchObject({ line: 3, event: { type: 'turn_ended', outcome } });
  });

  it('[J151] a refusal is reported as a refusal', () => {
    const { take, rest } = translate();
    take(user('Hi'));
    take(answer('m1', text('I cannot'), 'refusal'));
    expect(rest().at(-1)?.event).toEqual({
      type: 'turn_ended',
      outcome: { type: 'refused', message: 'the model refused' },
    });
  });
});

describe('user messages', () => {
  it('[J152] a command is reported when it starts a turn; notes of the program are not reported', () => {
    const { take } = translate();
    expect(take(user('<command-name>/review</command-name><command-args>all of it</command-args>'))).toEqual([]);
    for (const note of ['<local-command-stdout>x', '<task-notification>x', '<bash-input>ls', '<system-reminder>x']) {
      expect(take(user(note))).toEqual([]);
    }
    expect(take({ ...user('Caveat'), isMeta: true })).toEqual([]);
    expect(take({ ...user('Summary'), isCompactSummary: true })).toEqual([]);
    const [said] = take(answer('m1', text('Reviewed'), 'end_turn'));
    expect(said?.event).toEqual({ type: 'said', content: [{ type: 'text', text: '/review all of it' }] });
    expect(types(take({ type: 'system', subtype: 'compact_boundary' }))).toEqual(['compacted 9']);
  });

  it('[J152] images are kept, and blocks unknown to the wire are shown as JSON', () => {
    const { take } = translate();
    const image = { type: 'image', source: { type: 'base64', data: 'AAAA', media_type: 'image/png', more: 1 } };
    const [said] = take(user([text('Look'), image, { type: 'novel', x: 1 }]));
    expect(said?.event).toEqual({
      type: 'said',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image', source: { type: 'base64', data: 'AAAA', media_type: 'image/png' } },
        { type: 'text', text: '{"type":"novel","x":1}' },
      ],
    });
    take(answer('m1', call('c1', 'Read'), 'tool_use'));
    const shown = take(result('c1', [image, text('and'), null, { no: 'type' }])).at(-1);
    expect(shown?.event).toMatchObject({
      content: [{ type: 'image' }, { type: 'text', text: 'and' }],
      is_error: false,
    });
  });
});

describe('sub-agents', () => {
  it('[J153] one is opened by its own file, under who called it, and ends with its last word or the result of its call', () => {
    const { take, takeOf, rest } = translate();
    take(user('Hi'));
    take(answer('m1', [call('c1', 'Agent'), call('c2', 'Agent')], 'tool_use'));
    const first = takeOf('a1', meta('c1', 'alpha'), user('Do it'));
    expect(first[0]?.event).toMatchObject({
      type: 'thread_opened',
      parent_key: MAIN,
      agent_name: 'alpha',
      call_id: 'c1',
      prompt: 'Do it',
    });
    takeOf('a1', meta('c1', 'alpha'), answer('m2', call('c3', 'Task'), 'tool_use'));
    // 2.1.197 does not say who started it, but by which call.
    const deep = takeOf('a2', meta('c3', 'deep'), user('Deeper'));
    expect(deep[0]?.event).toMatchObject({ type: 'thread_opened', parent_key: 'a1' });
    takeOf('a2', meta('c3', 'deep'), answer('m3', text('Seen'), 'end_turn'));
    expect(types(rest(['a2']))).toEqual(['request_ended 2', 'thread_ended 2']);
    // The other one is stopped in the middle.
    takeOf('a3', meta('c2', 'beta'), user('And you'));
    const stopped = take(result('c2', 'interrupted', true));
    expect(stopped.map(({ key, event }) => [key, event.type])).toEqual([
      [MAIN, 'request_ended'],
      ['a3', 'thread_ended'],
      [MAIN, 'result'],
    ]);
    expect(stopped[1]).toMatchObject({ line: 1, event: { status: 'stopped' } });
  });

  it('[J153] a background agent continues after its call was answered, and an ended one can get a follow-up', () => {
    const { take, takeOf, rest } = translate();
    take(user('Hi'));
    take(answer('m1', call('c1', 'Agent'), 'tool_use'));
    takeOf('a1', meta('c1', 'slow'), user('Slowly'));
    const launch = { ...result('c1', 'launched'), toolUseResult: { status: 'async_launched' } };
    expect(types(take(launch))).toEqual(['request_ended 2', 'result 3']);
    takeOf('a1', null, answer('m2', text('Done'), 'end_turn'));
    expect(rest(['a1']).at(-1)?.event).toEqual({ type: 'thread_ended', status: 'completed', error: null });
    expect(takeOf('a1', null, user('And now?'))[0]?.event).toEqual({ type: 'thread_started', prompt: 'And now?' });
    // A note that the program adds during a turn is not a task.
    expect(takeOf('a1', null, user('A note'))).toEqual([]);
    const failed = { ...answer('x', text('API Error'), null), isApiErrorMessage: true };
    expect(takeOf('a1', null, failed).at(-1)?.event).toEqual({
      type: 'thread_ended',
      status: 'failed',
      error: 'API Error',
    });
  });

  it('[J153] one of which nothing is known has no name, and belongs to the main agent', () => {
    const { takeOf } = translate();
    const [opened] = takeOf('a9', null, answer('m1', text('Here'), null));
    expect(opened?.event).toEqual({
      type: 'thread_opened',
      parent_key: MAIN,
      agent_name: 'agent',
      description: null,
      prompt: null,
      call_id: null,
    });
  });
});

describe('whatever stands in a file', () => {
  it('[J154] is read or left out, line by line', () => {
    const { take, takeOf } = translate();
    const wild = [
      null,
      [],
      3,
      'x',
      {},
      { type: 7 },
      { type: 'user' },
      { type: 'user', message: 3 },
      { type: 'assistant' },
    ];
    const blocks = [
      null,
      3,
      {},
      { type: 'tool_use' },
      { type: 'tool_use', id: '', name: 'x' },
      { type: 'tool_result' },
    ];
    for (const line of wild) take(line);
    take(user(blocks));
    take(answer('m1', blocks, 'end_turn', 'none'));
    // Old releases had sub-agents in the file of the main agent, without their names.
    expect(take({ ...user('Sidechain'), isSidechain: true })).toEqual([]);
    expect(takeOf(MAIN, null, user('After all that')).at(-1)).toMatchObject({
      line: wild.length + 4,
      event: { type: 'said' },
    });
  });

  it('[J154] long names are cut', () => {
    const { take } = translate();
    const long = 'x'.repeat(limits.importNameCharsMax + 1);
    const line = answer('m1', call('c1', long), 'tool_use');
    const [, started, called] = take({ ...line, message: { ...line.message, model: long } });
    expect(started?.event).toEqual({ type: 'request_started', model: long.slice(1) });
    expect(called?.event).toMatchObject({ name: long.slice(1) });
  });
});

function translate() {
  const translator = new TranscriptTranslator();
  const takeOf = (key: string, who: AgentMeta | null, line: unknown) => translator.take(key, who, readRecord(line));
  return {
    take: (line: unknown) => takeOf(MAIN, null, line),
    takeOf,
    rest: (keys?: string[]) => translator.rest(keys),
  };
}

function types(steps: readonly Step[]): string[] {
  return steps.map(({ line, event }) => `${event.type} ${line}`);
}

function user(content: unknown) {
  return { type: 'user', timestamp: T, message: { role: 'user', content } };
}

function answer(id: string, content: unknown, stop_reason: string | null, usage: unknown = {}) {
  const blocks = Array.isArray(content) ? content : [content];
  return { type: 'assistant', timestamp: T, message: { id, model: 'claude-x', content: blocks, stop_reason, usage } };
}

function result(tool_use_id: string, content: unknown, is_error = false) {
  return user([{ type: 'tool_result', tool_use_id, content, is_error }]);
}

function text(words: string) {
  return { type: 'text', text: words };
}

function call(id: string, name: string) {
  return { type: 'tool_use', id, name, input: { prompt: 'x' } };
}

function meta(callId: string, agentType: string): AgentMeta {
  return { callId, agentType, description: agentType, parentId: null };
}
