import { describe, expect, it } from 'vitest';
import {
  assistant,
  brief,
  briefs,
  call,
  init,
  system,
  taskEnded,
  taskStarted,
  text,
  toolResult,
  translate,
  user,
} from '../../../../../test/support/lines.ts';
import { recordings } from '../../../../../test/support/recordings.ts';
import type { AgentEvent } from '../wire/events.ts';
import { StreamTranslator } from '../translator/stream-translator.ts';

const spawn = (id: string) => assistant('m0', [call(id, 'Agent')], { uuid: `spawn ${id}` });
const says = (parent: string, content: string, uuid = content) =>
  assistant(`m ${parent}`, [text(content)], { parent_tool_use_id: parent, uuid });

describe('the envelope', () => {
  it('[S30] is on every event: number, agent, depth, and the place of a block', () => {
    for (const recording of recordings()) {
      const stream = new StreamTranslator();
      const events = [...stream.push(recording.bytes()), ...stream.end()];
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
      const wrong = events.find((event) => !hasEnvelope(event));
      expect(wrong, recording.name).toBeUndefined();
    }
  });

  it('[S30] names the message wherever the wire does, and the time where the line has one', () => {
    const timestamp = '2026-01-02T03:04:05.678Z';
    const [said, result] = translate([
      assistant('m1', [text('a')], { uuid: 'u', timestamp }),
      toolResult('toolu_1', 'x'),
    ]);
    expect(said).toEqual({
      seq: 0,
      stream_id: 0,
      depth: 0,
      thread: 'main',
      ts: timestamp,
      type: 'text_delta',
      message_id: 'm1',
      block: 0,
      content: 'a',
    });
    expect(result).not.toHaveProperty('ts');
    expect(result).not.toHaveProperty('message_id');
  });

  it('[S31] gives main 0 and each further agent the next number when it is first seen', () => {
    const events = translate([
      spawn('toolu_A'),
      spawn('toolu_B'),
      says('toolu_B', 'b'),
      taskStarted('task_C', 'toolu_C'),
      says('toolu_A', 'a'),
      says('toolu_B', 'b2'),
      says('toolu_C', 'c'),
    ]);
    const ids = new Map(events.map(({ thread, stream_id, depth }) => [thread, [stream_id, depth]]));
    expect(Object.fromEntries(ids)).toEqual({
      main: [0, 0],
      toolu_B: [1, 1],
      task_C: [2, 1],
      toolu_A: [3, 1],
    });
  });
});

describe('parents of threads', () => {
  it('[S34] opens an agent at once and links it when its call is seen', () => {
    expect(briefs([says('toolu_A', 'early'), spawn('toolu_A'), says('toolu_A', 'later')])).toEqual([
      'toolu_A thread_start parent unresolved',
      'toolu_A text_delta m toolu_A.0 early',
      'toolu_A thread_update parent main',
      'main tool_use m0.0 toolu_A',
      'toolu_A text_delta m toolu_A.1 later',
    ]);
  });

  it('[S34] links it when its task is reported, in either order, and never makes two of one', () => {
    const [line, task, call_] = [says('toolu_A', 'x'), taskStarted('task_A', 'toolu_A'), spawn('toolu_A')];
    const orders = [
      [line, task, call_],
      [line, call_, task],
      [task, line, call_],
      [task, call_, line],
      [call_, task, line],
      [call_, line, task],
    ];
    for (const order of orders) {
      const events = translate(order);
      expect(new Set(events.map(({ thread }) => thread)).size).toBe(2);
      const facts = Object.assign({}, ...events.filter((event) => event.type.startsWith('thread_'))) as AgentEvent;
      expect(facts).toMatchObject({ parent: 'main', toolUseId: 'toolu_A', taskId: 'task_A', depth: 1 });
    }
  });

  it('[S34] corrects the depth of all below when a parent is learnt late', () => {
    const nested = assistant('m1', [call('toolu_B', 'Agent')], { parent_tool_use_id: 'toolu_A', uuid: 'u1' });
    const events = translate([says('toolu_B', 'deep'), nested, says('toolu_B', 'deeper'), spawn('toolu_A')]);
    expect(events.filter(({ thread }) => thread === 'toolu_B').map(({ depth }) => depth)).toEqual([1, 1, 2, 2]);
    expect(events.at(-2)).toMatchObject({ thread: 'toolu_A', parent: 'main', depth: 1 });
  });

  it('[S35] puts an agent below one that never emits anything', () => {
    const events = translate([
      spawn('toolu_A'),
      taskStarted('task_A', 'toolu_A', { spawn_depth: 1 }),
      taskStarted('task_B', 'toolu_B', { spawn_depth: 2, parent_task_id: 'task_A' }),
      says('toolu_B', 'deep'),
    ]);
    expect(events.filter(({ thread }) => thread === 'task_B')).toMatchObject([
      { type: 'thread_start', parent: 'task_A', depth: 2 },
      { type: 'run_start', depth: 2 },
      { type: 'text_delta', depth: 2 },
    ]);
  });

  it('[S35] opens the agent above at once where it is not yet known, and links it when it is reported', () => {
    const below = taskStarted('task_B', 'toolu_B', { spawn_depth: 2, parent_task_id: 'task_A' });
    const above = taskStarted('task_A', 'toolu_A', { spawn_depth: 1 });
    expect(briefs([spawn('toolu_A'), below, above, says('toolu_A', 'x')]).slice(1)).toEqual([
      'task_A thread_start parent unresolved',
      'task_B thread_start parent task_A',
      'task_B run_start 0',
      'task_A thread_update',
      'task_A thread_update parent main',
      'task_A run_start 0',
      'task_A text_delta m toolu_A.0 x',
    ]);
  });

  it('[S41] keeps two agents with equal description and prompt apart', () => {
    const same = { description: 'look', prompt: 'Look at everything.', subagent_type: 'general-purpose' };
    const prompt = (parent: string) => user('Look at everything.', { parent_tool_use_id: parent, uuid: `p${parent}` });
    const events = translate([
      spawn('toolu_A'),
      spawn('toolu_B'),
      taskStarted('task_A', 'toolu_A', same),
      taskStarted('task_B', 'toolu_B', same),
      prompt('toolu_A'),
      prompt('toolu_B'),
      says('toolu_A', 'Nothing.', 'u1'),
      says('toolu_B', 'Nothing.', 'u2'),
    ]);
    const said = events.filter(({ type }) => type === 'prompt' || type === 'text_delta').map(brief);
    expect(said).toEqual([
      'task_A prompt prompt: Look at everything.',
      'task_B prompt prompt: Look at everything.',
      'task_A text_delta m toolu_A.0 Nothing.',
      'task_B text_delta m toolu_B.0 Nothing.',
    ]);
  });

  it('[S39] gives a result to the agent that made the call, although the line does not name it', () => {
    const inner = assistant('m1', [call('toolu_x')], { parent_tool_use_id: 'toolu_A', uuid: 'u1' });
    expect(briefs([spawn('toolu_A'), inner, toolResult('toolu_x', 'out')]).at(-1)).toBe(
      'toolu_A tool_result toolu_x: out',
    );
    expect(briefs([toolResult('toolu_y', 'out', { parent_tool_use_id: 'toolu_A' })]).at(-1)).toBe(
      'toolu_A tool_result toolu_y: out',
    );
  });
});

describe('the life of an agent', () => {
  const started = [spawn('toolu_A'), taskStarted('task_A', 'toolu_A', { run_id: 'r0' })];
  const life = (lines: Parameters<typeof translate>[0]) =>
    briefs(lines).filter((line) => /run_start|thread_status/.test(line));

  it('[S36] continues when its call reports a launch in the background, and ends once by its task', () => {
    const launched = toolResult('toolu_A', 'Async agent launched', {
      tool_use_result: { isAsync: true, status: 'async_launched', agentId: 'task_A' },
    });
    const lines = [...started, launched, says('toolu_A', 'working')];
    expect(life(lines)).toEqual(['task_A run_start 0']);
    const updated = system('task_updated', { task_id: 'task_A', patch: { status: 'completed' } });
    expect(life([...lines, updated, taskEnded('task_A'), taskEnded('task_A')])).toEqual([
      'task_A run_start 0',
      'task_A thread_status completed by task',
    ]);
  });

  it('[S36] reports killed and stopped alike, and a failure with its error', () => {
    const updated = (patch: object) => system('task_updated', { task_id: 'task_A', patch });
    expect(life([...started, updated({ status: 'killed' }), taskEnded('task_A', { status: 'stopped' })])).toEqual([
      'task_A run_start 0',
      'task_A thread_status stopped by task',
    ]);
    const failed = translate([...started, updated({ status: 'failed', error: 'boom' })]).at(-1);
    expect(failed).toMatchObject({ type: 'thread_status', status: 'failed', error: 'boom', run: 0 });
  });

  it('[S36] emits the report of a run once', () => {
    const ended = taskEnded('task_A', { summary: 'All good.', usage: { total_tokens: 7, tool_uses: 2 } });
    const reports = translate([...started, ended, ended]).filter(({ type }) => type === 'thread_report');
    expect(reports).toMatchObject([{ run: 0, summary: 'All good.', usage: { totalTokens: 7, toolUses: 2 } }]);
  });

  it('[S37] ends with the result of its call where no task line came', () => {
    const lines = [spawn('toolu_A'), says('toolu_A', 'x')];
    expect(life([...lines, toolResult('toolu_A', 'report')])).toEqual(['toolu_A thread_status completed by result']);
    const failed = user([{ type: 'tool_result', tool_use_id: 'toolu_A', content: 'no', is_error: true }]);
    expect(life([...lines, failed])).toEqual(['toolu_A thread_status failed by result']);
    const report = toolResult('toolu_A', 'report', { tool_use_result: { status: 'completed', agentId: 'task_A' } });
    expect(life([...lines, report])).toEqual(['toolu_A thread_status completed by report']);
    // The task lines report the end of an agent that has some.
    expect(life([...started, toolResult('toolu_A', 'report')])).toEqual(['task_A run_start 0']);
  });

  it('[S38] treats its input as a prompt, and never as its own text', () => {
    const given = (content: unknown, fields = {}) => user(content, { parent_tool_use_id: 'toolu_A', ...fields });
    expect(
      briefs([
        spawn('toolu_A'),
        given('Do it.'),
        given([text('A note.'), text('Another.')]),
        given('Again', { isReplay: true }),
        given('Caveat', { isSynthetic: true }),
        user('For main'),
      ]).slice(2),
    ).toEqual([
      'toolu_A prompt prompt: Do it.',
      'toolu_A prompt note: A note.',
      'toolu_A prompt note: Another.',
      'toolu_A prompt replay: Again',
      'toolu_A prompt synthetic: Caveat',
      'main prompt user: For main',
    ]);
  });

  it('[S40] is opened again by a follow-up, and later text of an older run is marked late', () => {
    const again = taskStarted('task_A', 'toolu_send', { run_id: 'r1', prompt: 'And now?' });
    const lines = [
      ...started,
      taskEnded('task_A', { run_id: 'r0' }),
      again,
      again,
      system('task_updated', { task_id: 'task_A', run_id: 'r0', patch: { status: 'failed' } }),
      says('toolu_A', 'still the same agent'),
      taskEnded('task_A', { run_id: 'r1' }),
    ];
    expect(briefs(lines).slice(2)).toEqual([
      'task_A run_start 0',
      'task_A thread_status completed by task',
      'task_A run_start 1',
      'task_A prompt follow_up: And now?',
      'task_A thread_status failed by task late',
      'task_A text_delta m toolu_A.0 still the same agent',
      'task_A thread_status completed by task',
    ]);
    const progress = system('task_progress', { task_id: 'task_A', run_id: 'r0', description: 'reading' });
    expect(translate([...lines.slice(0, 4), progress]).at(-1)).toMatchObject({ type: 'thread_progress', late: true });
  });

  it('[S36] a shell task or a task of another process is not an agent', () => {
    const shell = taskStarted('b1', 'toolu_s', { task_type: 'local_bash' });
    expect(briefs([init(), shell, taskEnded('b1'), taskEnded('lost')])).toEqual([
      'main session_meta',
      'main raw system/task_started',
      'main raw system/task_notification',
      'main raw system/task_notification',
    ]);
  });
});

describe('permission requests', () => {
  const ask = (fields: object) => ({
    type: 'control_request',
    request_id: 'r1',
    request: { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'ls' }, ...fields },
  });

  it('[S64] go to the requesting agent, before its call is printed and after', () => {
    const inner = assistant('m1', [call('toolu_x')], { parent_tool_use_id: 'toolu_A', uuid: 'u1' });
    const threads = (...lines: Parameters<typeof translate>[0]) => translate(lines).at(-1)?.thread;
    expect(threads(taskStarted('task_A', 'toolu_A'), ask({ agent_id: 'task_A', tool_use_id: 'toolu_x' }))).toBe(
      'task_A',
    );
    expect(threads(ask({ agent_id: 'task_new' }))).toBe('task_new');
    expect(threads(spawn('toolu_A'), inner, ask({ tool_use_id: 'toolu_x' }))).toBe('toolu_A');
    expect(threads(ask({ tool_use_id: 'toolu_unknown' }))).toBe('main');
    expect(threads(ask({ agent_id: 'task_A' }), { type: 'control_cancel_request', request_id: 'r1' })).toBe('task_A');
  });
});

function hasEnvelope(event: AgentEvent): boolean {
  const { stream_id, depth, thread } = event;
  if (!Number.isInteger(stream_id) || !Number.isInteger(depth) || thread === '') return false;
  if ((stream_id === 0) !== (thread === 'main') || (depth === 0) !== (thread === 'main')) return false;
  return !['text_delta', 'thinking_delta', 'tool_use', 'replace'].includes(event.type) || 'block' in event;
}
