import { describe, expect, it } from 'vitest';
import {
  assistant,
  brief,
  call,
  init,
  result,
  streamEvent,
  taskEnded,
  taskStarted,
  text,
  toolResult,
  translate,
  user,
} from '../../../../../test/support/lines.ts';
import { liveBytes } from '../../../../../test/support/heap.ts';
import {
  ANONYMOUS_STREAMS_MAX,
  CALL_OWNERS_MAX,
  DEPTH_MAX,
  DRIFT_KINDS_MAX,
  ENDED_THREADS_MAX,
  MODELS_MAX,
  NAME_CHARS_MAX,
  OPEN_REQUESTS_MAX,
  OPEN_TURNS_MAX,
  REPEATING_MESSAGES_PER_THREAD,
  RETRACTABLE_LINES_MAX,
  RUNS_PER_THREAD,
  SNAPSHOT_ANONYMOUS_STREAMS,
  SNAPSHOT_CALL_OWNERS,
  SNAPSHOT_LINES_PER_THREAD,
  SNAPSHOT_MESSAGES,
  SNAPSHOT_MESSAGES_PER_THREAD,
  SNAPSHOT_RETRACTABLE_LINES,
  SNAPSHOT_THREADS,
  THREADS_MAX,
  WHOLE_MESSAGES_PER_THREAD,
} from '../base/limits.ts';
import type { StreamJsonMessage } from '../wire/messages.ts';
import { Translator } from './translator.ts';

const line = (id: string, content: string, uuid: string, fields = {}) =>
  assistant(id, [text(content)], { uuid, ...fields });
const times = (count: number, make: (index: number) => StreamJsonMessage) =>
  Array.from({ length: count }, (_, i) => make(i));

/** The last line of what came before plus `count` others, in briefs: once at the limit, once past it. */
function lastOf(
  first: StreamJsonMessage[],
  others: StreamJsonMessage[],
  last: StreamJsonMessage,
  isRestored = false,
): string[] {
  const translator = new Translator();
  for (const each of [...first, ...others]) translator.translate(each);
  const goesOn = isRestored ? Translator.restore(JSON.parse(JSON.stringify(translator.snapshot()))) : translator;
  return goesOn.translate(last).map(brief);
}

/** Every other number of limits.ts has its test beside what it limits: reader, memory, accelerator. */
describe('limits of the translator', () => {
  it('[S61] numbers of blocks continue for the last 64 messages of an agent', () => {
    const others = (count: number) => times(count, (index) => line(`other${index}`, 'x', `o${index}`));
    const at = (count: number) => lastOf([line('m1', 'a', 'u1')], others(count), line('m1', 'b', 'u2'));
    expect(at(WHOLE_MESSAGES_PER_THREAD - 1)).toEqual(['main text_delta m1.1 b']);
    expect(at(WHOLE_MESSAGES_PER_THREAD)).toEqual(['main text_delta m1.0 b']);
  });

  it('[S57] a snapshot is compared alike whether its text is kept (8 messages) or only its mark', () => {
    const others = (count: number) => times(count, (index) => assistant(`other${index}`, [text('x'), text('y')]));
    for (const count of [REPEATING_MESSAGES_PER_THREAD - 1, REPEATING_MESSAGES_PER_THREAD, 100]) {
      const known = [[text('ab')], [text('ab'), call('toolu_1')]].map((content) => assistant('m1', content));
      expect(lastOf(known, others(count), assistant('m1', [text('ab'), call('toolu_1')]))).toEqual([]);
      expect(lastOf(known, others(count), assistant('m1', [text('abc'), call('toolu_1')]))).toEqual([
        'main text_delta m1.0 c',
      ]);
      expect(lastOf(known, others(count), assistant('m1', [text('ax'), call('toolu_1')]))).toEqual([
        'main replace m1.0 ax',
      ]);
    }
  });

  it('[S62] an agent that ended is remembered until 25 others have ended after it', () => {
    const agent = (index: number) => [taskStarted(`t${index}`, `c${index}`), taskEnded(`t${index}`)];
    const first = [taskStarted('t', 'c'), line('m1', 'a', 'u1', { parent_tool_use_id: 'c' }), taskEnded('t')];
    const at = (count: number) =>
      lastOf(
        first,
        times(count, (index) => agent(index)[0]!).concat(times(count, (index) => agent(index)[1]!)),
        first[1]!,
      );
    expect(at(ENDED_THREADS_MAX - 1)).toEqual([]);
    expect(at(ENDED_THREADS_MAX)).toEqual(['t text_delta m1.0 a']);
  });

  it('[S62] an agent that was started again is not forgotten while it runs, and its runs are counted through', () => {
    const first = [
      taskStarted('t', 'c', { run_id: 'r0' }),
      line('m1', 'a', 'u1', { parent_tool_use_id: 'c' }),
      taskEnded('t', { run_id: 'r0' }),
      taskStarted('t', 'c1', { run_id: 'r1' }),
    ];
    const others = times(60, (i) => (i % 2 ? taskEnded(`t${i - 1}`) : taskStarted(`t${i}`, `c${i}`)));
    expect(lastOf(first, others, first[1]!)).toEqual([]);
    const late = taskEnded('t', { run_id: 'r0', status: 'failed' });
    expect(lastOf([...first, late], others, first[1]!)).toEqual([]);
    expect(
      lastOf([...first, taskEnded('t', { run_id: 'r1' })], others, taskStarted('t', 'c2', { run_id: 'r2' })),
    ).toEqual(['t run_start 2']);
  });

  it('[S63] 10,000 agents are known; with one more the oldest is forgotten, and opened again when it emits a line', () => {
    const speaks = (index: number, uuid = `u${index}`) =>
      line('m', `${index}`, uuid, { parent_tool_use_id: `c${index}` });
    const translator = new Translator();
    // The main agent is one of them.
    translator.translate(taskStarted('c1', 'c1'));
    for (let index = 1; index < THREADS_MAX; index++) translator.translate(speaks(index));
    expect(translator.translate(speaks(1, 'again')).map(brief)).toEqual(['c1 text_delta m.1 1']);
    translator.translate(speaks(THREADS_MAX));
    expect(translator.translate(speaks(2, 'still')).map(brief)).toEqual(['c2 text_delta m.1 2']);
    expect(translator.translate(taskEnded('c1')).map(brief)).toEqual(['main raw system/task_notification']);
    const [start] = translator.translate(speaks(1, 'once more'));
    expect(start).toMatchObject({ type: 'thread_start', thread: 'c1', stream_id: THREADS_MAX + 1 });
  });

  it('[S63] no agent is reported deeper than 16, and a chain of 1,000 is reported in time', () => {
    const below = (index: number) =>
      assistant(`m${index}`, [call(`c${index - 1}`, 'Agent')], { parent_tool_use_id: `c${index}` });
    const chain = translate(times(1_000, (index) => below(index + 1)));
    expect(Math.max(...chain.map(({ depth }) => depth))).toBe(DEPTH_MAX);
    expect(chain.length).toBeLessThan(1_000 * (DEPTH_MAX + 4));
    const depthOf = (spawn_depth: number) => translate([taskStarted('t', 'c', { spawn_depth })])[0]?.depth;
    expect([depthOf(DEPTH_MAX), depthOf(DEPTH_MAX + 1), depthOf(1e9), depthOf(-5)]).toEqual([
      DEPTH_MAX,
      DEPTH_MAX,
      DEPTH_MAX,
      1,
    ]);
  });

  it('[S51] the last 1,000 lines can be taken back', () => {
    const others = (count: number) => times(count, (index) => line('m2', 'x', `o${index}`));
    const at = (count: number) =>
      lastOf([line('m1', 'a', 'u1')], others(count), line('m3', 'b', 'u2', { supersedes: ['u1'] })).length;
    expect(at(RETRACTABLE_LINES_MAX - 1)).toBe(2);
    expect(at(RETRACTABLE_LINES_MAX)).toBe(1);
  });

  it('[S39] the caller of the last 4,000 calls is known, and forgotten after twice as many', () => {
    const first = assistant('m1', [call('toolu_x')], { uuid: 'u1', parent_tool_use_id: 'c1' });
    const others = (count: number) =>
      times(count, (index) => assistant('m2', [call(`toolu_${index}`)], { uuid: `o${index}` }));
    const at = (count: number) => lastOf([first], others(count), toolResult('toolu_x', 'out'));
    expect(at(CALL_OWNERS_MAX - 1)).toEqual(['c1 tool_result toolu_x: out']);
    expect(at(2 * CALL_OWNERS_MAX)).toEqual(['main tool_result toolu_x: out']);
  });

  it('[S20] 512 open streams without ids are compared', () => {
    const others = (count: number) => times(count, (index) => assistant('', [text(`${index} other`)]));
    const at = (count: number) =>
      lastOf([assistant('', [text('a')])], others(count), assistant('', [text('a'), text('b')])).length;
    expect(at(ANONYMOUS_STREAMS_MAX - 1)).toBe(1);
    expect(at(ANONYMOUS_STREAMS_MAX)).toBe(2);
  });

  it('[S64] 1,000 permission requests are remembered as open', () => {
    const ask = (id: string, agent: string) => ({
      type: 'control_request',
      request_id: id,
      request: { subtype: 'can_use_tool', agent_id: agent, tool_name: 'Bash', input: {} },
    });
    const at = (count: number) =>
      lastOf(
        [ask('r', 't')],
        times(count, (index) => ask(`r${index}`, 'other')),
        {
          type: 'control_cancel_request',
          request_id: 'r',
        },
      );
    expect(at(OPEN_REQUESTS_MAX - 1)).toEqual(['t permission_withdrawn']);
    expect(at(OPEN_REQUESTS_MAX)).toEqual(['main permission_withdrawn']);
  });

  it('[S54] 200 unknown kinds are counted by name, the rest together', () => {
    const translator = new Translator();
    for (let index = 0; index < DRIFT_KINDS_MAX + 50; index++) translator.translate({ type: `new${index}` });
    const drift = translator.drift();
    expect(drift['new0']).toBe(1);
    expect(drift[`new${DRIFT_KINDS_MAX - 1}`]).toBe(1);
    expect(drift[`new${DRIFT_KINDS_MAX}`]).toBeUndefined();
    expect(drift['other']).toBe(50);
    expect(Object.keys(drift).length).toBe(DRIFT_KINDS_MAX + 1);
  });
});

describe('limits against a stream without end', () => {
  const feed = (lines: StreamJsonMessage[], isRestored: boolean) => {
    const translator = new Translator();
    for (const each of lines) translator.translate(each);
    return isRestored ? Translator.restore(JSON.parse(JSON.stringify(translator.snapshot()))) : translator;
  };

  it.each([false, true])('[S66] 1,000 turns are remembered as open, restored %s', (isRestored) => {
    const closed = (count: number) => {
      const translator = feed(
        times(count, () => init()),
        isRestored,
      );
      return [translator.translate(result())[0], translator.drift()] as const;
    };
    expect(closed(OPEN_TURNS_MAX)).toMatchObject([{ type: 'turn_complete', turn: 0 }, {}]);
    expect(closed(OPEN_TURNS_MAX)[1]).toEqual({});
    expect(closed(OPEN_TURNS_MAX + 1)).toMatchObject([{ type: 'turn_complete', turn: 1 }, { 'forgotten/turn': 1 }]);
  });

  it.each([false, true])('[S66] totals of 100 models are remembered, restored %s', (isRestored) => {
    const used = (name: string) => result({ modelUsage: { [name]: { outputTokens: 10, inputTokens: 1 } } });
    const added = (count: number) => {
      const others = times(count, (index) => used(`other${index}`));
      const translator = feed([used('first'), ...others], isRestored);
      const [ended] = translator.translate(used('first'));
      return [ended?.type === 'turn_complete' && ended.outputTokens, translator.drift()];
    };
    expect(added(MODELS_MAX - 1)).toEqual([0, {}]);
    // Forgotten, it counts from 0 again, and takes the place of the next.
    expect(added(MODELS_MAX)).toEqual([10, { 'forgotten/model': 2 }]);
  });

  it.each([false, true])(
    '[S66] 100 runs of an agent are remembered, and all are counted, restored %s',
    (isRestored) => {
      const started = (count: number) => times(count, (index) => taskStarted('t', 'c', { run_id: `r${index}` }));
      const late = (count: number) => {
        const translator = feed(started(count), isRestored);
        const [status] = translator.translate(taskEnded('t', { run_id: 'r0' }));
        return [status, translator.drift()] as const;
      };
      expect(late(RUNS_PER_THREAD)).toMatchObject([{ type: 'thread_status', run: 0, late: true }, {}]);
      // Forgotten, it is taken for the current one, like a run that was never reported.
      const [status, drift] = late(RUNS_PER_THREAD + 1);
      expect(status).toMatchObject({ type: 'thread_status', run: RUNS_PER_THREAD });
      expect(drift).toEqual({ 'forgotten/run': 1 });
    },
  );

  it('[S67] a name of 256 characters is emitted as it is, a longer one as its beginning and its mark', () => {
    const named = (length: number, last = 'x') => `${'n'.repeat(length - 1)}${last}`;
    const key = (id: string) => translate([line('m', 'a', 'u', { parent_tool_use_id: id })])[0]?.thread;
    expect(key(named(NAME_CHARS_MAX))).toBe(named(NAME_CHARS_MAX));
    const [long, other] = [key(named(NAME_CHARS_MAX + 1)), key(named(NAME_CHARS_MAX + 1, 'y'))];
    expect(long).toMatch(/^n{64}~-?\d+~-?\d+$/);
    expect(other).toMatch(/^n{64}~-?\d+~-?\d+$/);
    expect(long).not.toBe(other);
    const kinds = (length: number) => Object.keys(feed([{ type: named(length) }], true).drift());
    expect(kinds(NAME_CHARS_MAX)).toEqual([named(NAME_CHARS_MAX)]);
    expect(kinds(NAME_CHARS_MAX + 1)).toEqual([expect.stringMatching(/^n{64}~/)]);
  });

  it('[S68] facts of an agent are emitted whole, and remembered as 256 characters or a beginning and a mark', () => {
    const facts = (length: number) => ({
      subagent_type: 't'.repeat(length),
      description: 'd'.repeat(length),
      prompt: 'p'.repeat(length),
    });
    for (const length of [NAME_CHARS_MAX, NAME_CHARS_MAX + 1]) {
      const translator = new Translator();
      const started = taskStarted('t', 'c', facts(length));
      const { subagent_type: agentType, description, prompt } = facts(length);
      expect(translator.translate(started)[0]).toMatchObject({ type: 'thread_start', agentType, description, prompt });
      const [, saved] = translator.snapshot().threads;
      const kept = (fact: string) => (length > NAME_CHARS_MAX ? expect.stringMatching(`^${fact[0]}{64}~`) : fact);
      expect(saved?.facts).toMatchObject({ agentType: kept(agentType), description: kept(description) });
      // A known fact is not emitted a second time.
      expect(translator.translate({ ...started, run_id: 'r1' }).map(({ type }) => type)).not.toContain('thread_update');
    }
  });

  it('[S68] facts, prompts and errors of 600,000 characters each leave nothing behind', () => {
    const long = (name: string) => name.repeat(300_000);
    const translator = new Translator();
    const before = liveBytes();
    for (let index = 10; index < 40; index++) {
      const id = `${index}`;
      const given = { prompt: long(id), description: long(id), subagent_type: long(id), session_id: long(id) };
      translator.translate(taskStarted(`t${id}`, `c${id}`, given));
      translator.translate(user(long(id), { parent_tool_use_id: `l${id}`, task_description: long(id) }));
      translator.translate(line('m', 'x', `u${id}`, { error: long(id) }));
      translator.translate(init({ model: long(id), session_id: long(id) }));
    }
    expect(liveBytes() - before).toBeLessThan(4e6);
    expect(JSON.stringify(translator.snapshot()).length).toBeLessThan(200_000);
  });

  it('[S68] the session and its model are emitted and remembered like ids', () => {
    const named = (length: number) => feed([init({ model: 'm'.repeat(length), session_id: 's'.repeat(length) })], true);
    const at = named(NAME_CHARS_MAX);
    expect([at.sessionId, at.model]).toEqual(['s'.repeat(NAME_CHARS_MAX), 'm'.repeat(NAME_CHARS_MAX)]);
    const over = named(NAME_CHARS_MAX + 1);
    expect(over.sessionId).toMatch(/^s{64}~-?\d+~-?\d+$/);
    expect(over.model).toMatch(/^m{64}~-?\d+~-?\d+$/);
    const ended = result({ session_id: 's'.repeat(NAME_CHARS_MAX + 1) });
    expect(over.translate(ended)[0]).toMatchObject({ type: 'turn_complete', sessionId: over.sessionId });
  });

  it('[S67] long ids do all that short ones do', () => {
    const long = (id: string) => id.repeat(NAME_CHARS_MAX + 1);
    const lines = (id: (name: string) => string) => [
      assistant(id('m'), [call(id('c'), 'Agent')], { uuid: id('u') }),
      taskStarted(id('t'), id('c'), { run_id: id('r') }),
      assistant(id('n'), [call(id('d'))], { uuid: id('v'), parent_tool_use_id: id('c') }),
      assistant(id('n'), [call(id('d'))], { uuid: id('v'), parent_tool_use_id: id('c') }),
      toolResult(id('d'), 'out'),
      assistant(id('o'), [text('x')], { uuid: id('w'), supersedes: [id('v')] }),
      taskEnded(id('t'), { run_id: id('r') }),
    ];
    const types = (id: (name: string) => string) =>
      translate(lines(id)).map(({ type, stream_id }) => [type, stream_id]);
    expect(types(long)).toEqual(types((name) => name));
  });
});

describe('limits of a snapshot', () => {
  it('[S65] carries the ids of the last 32 lines of each agent', () => {
    const others = (count: number) => times(count, (index) => line('m2', 'x', `o${index}`));
    const at = (count: number) => lastOf([line('m1', 'a', 'u1')], others(count), line('m1', 'a', 'u1'), true).length;
    expect(at(SNAPSHOT_LINES_PER_THREAD - 1)).toBe(0);
    expect(at(SNAPSHOT_LINES_PER_THREAD)).toBe(1);
  });

  it('[S65] carries 50 messages of a single agent, and one of each where there are many', () => {
    const repeats = (id: string, fields = {}) => assistant(id, [text('a'), text('b')], fields);
    const others = (count: number, fields = {}) => times(count, (index) => repeats(`other${index}`, fields));
    const alone = (count: number) => lastOf([repeats('m1')], others(count), repeats('m1'), true).length;
    expect(alone(SNAPSHOT_MESSAGES - 1)).toBe(0);
    expect(alone(SNAPSHOT_MESSAGES)).toBe(2);
    const agents = times(SNAPSHOT_MESSAGES, (index) => repeats('m1', { parent_tool_use_id: `c${index}` }));
    const own = { parent_tool_use_id: 'c0' };
    const among = (count: number) => lastOf(agents, others(count, own), repeats('m1', own), true).length;
    expect(among(SNAPSHOT_MESSAGES_PER_THREAD - 1)).toBe(0);
    expect(among(SNAPSHOT_MESSAGES_PER_THREAD)).toBe(2);
  });

  it('[S65] carries the message that streams, however many came since', () => {
    const start = streamEvent({ type: 'message_start', message: { id: 'm1' } });
    const block = streamEvent({ type: 'content_block_start', index: 0, content_block: text('') });
    const delta = streamEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } });
    const others = times(SNAPSHOT_MESSAGES + 5, (index) => line(`other${index}`, 'x', `o${index}`));
    expect(lastOf([start, block, delta], others, line('m1', 'ab', 'u1'), true)).toEqual(['main text_delta m1.0 b']);
  });

  it('[S65] carries who made the last 200 calls', () => {
    const first = assistant('m1', [call('toolu_x')], { uuid: 'u1', parent_tool_use_id: 'c1' });
    const others = (count: number) =>
      times(count, (index) => assistant('m2', [call(`toolu_${index}`)], { uuid: `o${index}` }));
    const at = (count: number) => lastOf([first], others(count), toolResult('toolu_x', 'out'), true);
    expect(at(SNAPSHOT_CALL_OWNERS - 1)).toEqual(['c1 tool_result toolu_x: out']);
    expect(at(SNAPSHOT_CALL_OWNERS)).toEqual(['main tool_result toolu_x: out']);
  });

  it('[S65] carries the last 64 lines that can be taken back', () => {
    const others = (count: number) => times(count, (index) => line('m2', 'x', `o${index}`));
    const last = line('m3', 'b', 'u2', { supersedes: ['u1'] });
    const at = (count: number) => lastOf([line('m1', 'a', 'u1')], others(count), last, true).length;
    expect(at(SNAPSHOT_RETRACTABLE_LINES - 1)).toBe(2);
    expect(at(SNAPSHOT_RETRACTABLE_LINES)).toBe(1);
  });

  it('[S65] carries the last 500 agents, and main', () => {
    const speaks = (index: number, uuid = `u${index}`) => line('m', 'x', uuid, { parent_tool_use_id: `c${index}` });
    const at = (count: number) =>
      lastOf(
        [speaks(0)],
        times(count, (index) => speaks(index + 1)),
        speaks(0, 'new'),
        true,
      );
    expect(at(SNAPSHOT_THREADS - 1)).toEqual(['c0 text_delta m.1 x']);
    expect(at(SNAPSHOT_THREADS)[0]).toBe('c0 thread_start parent unresolved');
  });

  it('[S65] carries 128 open streams without ids', () => {
    const others = (count: number) => times(count, (index) => assistant('', [text(`${index} other`)]));
    const last = assistant('', [text('a'), text('b')]);
    const at = (count: number) => lastOf([assistant('', [text('a')])], others(count), last, true).length;
    expect(at(SNAPSHOT_ANONYMOUS_STREAMS - 1)).toBe(1);
    expect(at(SNAPSHOT_ANONYMOUS_STREAMS)).toBe(2);
  });
});
