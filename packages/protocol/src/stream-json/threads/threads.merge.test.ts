import { describe, expect, it } from 'vitest';
import {
  assistant,
  brief,
  briefs,
  call,
  taskEnded,
  taskStarted,
  text,
  toolResult,
  translate,
} from '../../../../../test/support/lines.ts';
import type { StreamJsonMessage } from '../wire/messages.ts';
import { Translator } from '../translator/translator.ts';
import { createTree, foldEvent } from '../tree.ts';

const spawn = assistant('m0', [call('toolu_A', 'Agent')], { uuid: 'spawn' });
const says = (content: string, fields: object = {}) =>
  assistant('m1', [text(content)], { parent_tool_use_id: 'toolu_A', uuid: content, ...fields });
const ask: StreamJsonMessage = {
  type: 'control_request',
  request_id: 'r1',
  request: { subtype: 'can_use_tool', tool_name: 'Bash', input: {}, agent_id: 'task_A' },
};
const withdraw: StreamJsonMessage = { type: 'control_cancel_request', request_id: 'r1' };
const both = says('both', { agent_id: 'task_A' });

describe('an agent that is seen by its call and by its task before anything links them', () => {
  const links: [string, StreamJsonMessage][] = [
    ['a line with both ids', both],
    ['its task line', taskStarted('task_A', 'toolu_A')],
    ['the result of its call', toolResult('toolu_A', 'x', { tool_use_result: { agentId: 'task_A', status: 'done' } })],
  ];

  it.each(links)('[S34] is one agent in the end, in every order, linked by %s', (_, link) => {
    for (const lines of orders([says('early'), ask, spawn, link])) {
      const [tree] = [...lines, says('late'), withdraw].reduce(fold, [createTree(), new Translator()] as const);
      const [main, agent] = tree.threads;
      expect(tree.threads.length, JSON.stringify(lines)).toBe(2);
      expect(agent).toMatchObject({ parent: 'main', depth: 1, taskId: 'task_A' });
      const texts = lines.includes(both) ? ['both', 'early', 'late'] : ['early', 'late'];
      expect(agent!.items.map((item) => (item.kind === 'text' ? item.text : '')).sort()).toEqual(texts);
      expect(main!.items.length).toBe(1);
      expect(tree.permissions).toMatchObject([{ thread: agent!.key, state: 'withdrawn' }]);
    }
  });

  it('[S34] continues under the key of its lines, and the other key is emitted as an alias', () => {
    const events = translate([says('early'), ask, both, withdraw]);
    expect(events.map(brief)).toEqual([
      'toolu_A thread_start parent unresolved',
      'toolu_A text_delta m1.0 early',
      'task_A thread_start parent unresolved',
      'task_A permission_request',
      'task_A thread_update',
      'toolu_A thread_update',
      'toolu_A text_delta m1.1 both',
      'toolu_A permission_withdrawn',
    ]);
    expect(events[4]).toMatchObject({ stream_id: 2, sameAs: 'toolu_A' });
    expect(events[5]).toMatchObject({ stream_id: 1, taskId: 'task_A' });
  });

  it('[S34, S55] so does one whose translator was saved and restored before any line', () => {
    const lines = [says('early'), ask, spawn, both, withdraw, says('late'), taskEnded('task_A')];
    const whole = new Translator();
    const said = lines.map((line) => JSON.stringify(whole.translate(line)));
    for (let cut = 0; cut <= lines.length; cut++) {
      const first = new Translator();
      for (const line of lines.slice(0, cut)) first.translate(line);
      const restored = Translator.restore(JSON.parse(JSON.stringify(first.snapshot())));
      expect(lines.slice(cut).map((line) => JSON.stringify(restored.translate(line)))).toEqual(said.slice(cut));
    }
  });

  it('[S34] keeps the reported facts of its task: runs, status, parent and children', () => {
    const started = { type: 'system', subtype: 'task_started', task_id: 'task_A', task_type: 'local_agent' };
    const inner = taskStarted('task_B', 'toolu_B', { parent_task_id: 'task_A' });
    const above = taskStarted('task_0', 'toolu_0', { spawn_depth: 1 });
    const lines = [above, { ...started, parent_task_id: 'task_0', description: 'd' }, inner, says('x'), both];
    const [tree] = [...lines, taskEnded('task_A')].reduce(fold, [createTree(), new Translator()] as const);
    expect(
      tree.threads.map(({ key, parent, depth, status, runs }) => [key, parent, depth, status, runs.length]),
    ).toEqual([
      ['main', null, 0, undefined, 0],
      ['task_0', null, 1, 'running', 1],
      ['task_B', 'toolu_A', 3, 'running', 1],
      ['toolu_A', 'task_0', 2, 'completed', 1],
    ]);
    expect(tree.threads[3]).toMatchObject({ description: 'd', taskId: 'task_A' });
    expect(briefs([...lines, taskStarted('task_A', 'toolu_C', { run_id: 'r1' })]).at(-1)).toBe('toolu_A run_start 1');
  });

  it('[S34] stays two if each has both ids, or if a task would become its own parent', () => {
    const other = says('b', { parent_tool_use_id: 'toolu_B' });
    const claims = says('c', { parent_tool_use_id: 'toolu_B', agent_id: 'task_A' });
    const threads = (lines: StreamJsonMessage[]) => new Set(translate(lines).map(({ thread }) => thread)).size;
    expect(threads([taskStarted('task_A', 'toolu_A'), other, claims])).toBe(2);
    const made = assistant('m2', [call('toolu_A', 'Agent')], { agent_id: 'task_A', uuid: 'made' });
    const circle = translate([made, says('x'), both, says('late')]);
    expect(circle.some((event) => 'sameAs' in event)).toBe(false);
    expect(circle.at(-1)).toMatchObject({ content: 'late' });
  });
});

function fold(
  [tree, translator]: readonly [ReturnType<typeof createTree>, Translator],
  line: StreamJsonMessage,
): readonly [ReturnType<typeof createTree>, Translator] {
  for (const event of translator.translate(line)) foldEvent(tree, event);
  return [tree, translator];
}

function orders<T>(items: T[]): T[][] {
  if (items.length < 2) return [items];
  return items.flatMap((item, at) => orders(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}
