import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { expect, it } from 'vitest';
import { createManualClock } from '../../../../base/clock.ts';
import { programLimits } from '../../limits.ts';
import { createManualSchedule } from '../../../../base/manual-schedule.suite.ts';
import { Workflows } from './workflows.ts';

it('[J281] task lines of a workflow become those of the workflow and of each agent, started and ended once', () => {
  const { expand } = open();
  expect(expand(started())).toMatchObject([{ task_type: 'local_agent', subagent_type: 'sweep', task_id: 'w1' }]);
  const queued = { type: 'workflow_agent', label: 'later', state: 'start' };
  const cached = { ...listed('a9', 'done'), cached: true };
  expect(words(expand(progress(queued, cached, listed('a1', 'start'))))).toEqual([
    'task_started a1',
    'task_progress a1',
    'task_progress w1',
  ]);
  expect(words(expand(progress(listed('a1', 'done'), listed('a2', 'start'), listed('a2', 'error'))))).toEqual([
    'task_updated a1',
    'task_started a2',
    'task_progress a2',
    'task_updated a2',
    'task_progress w1',
  ]);
  expect(words(expand(progress(listed('a1', 'done'), listed('a3', 'progress'))))).toEqual([
    'task_started a3',
    'task_progress a3',
    'task_progress w1',
  ]);
  const ended = expand({ type: 'system', subtype: 'task_updated', task_id: 'w1', patch: { status: 'killed' } });
  expect(words(ended)).toEqual(['task_updated a3', 'task_updated w1']);
  expect(ended[0]).toMatchObject({ patch: { status: 'killed' }, is_workflow_agent: true });
  for (const wild of [null, 3, {}, { type: 'workflow_agent', agentId: 7 }]) {
    expand(started());
    expect(words(expand(progress(wild)))).toEqual(['task_progress w1']);
  }
});

it('[J283] a request of an agent that no line has listed waits for that line, is withdrawn alone, and waits at most 3 s', () => {
  const { expand, late, advance, waiting } = open();
  expect(expand(request('r0', 'a1'))).toHaveLength(1);
  expand(started());
  expand({ type: 'system', subtype: 'task_started', task_id: 'b1', task_type: 'local_agent' });
  expect(expand(request('r1', 'b1'))).toHaveLength(1);
  for (const id of ['r2', 'r3']) expect(expand(request(id, 'a1'))).toEqual([]);
  expect(expand({ type: 'control_cancel_request', request_id: 'r3' })).toEqual([]);
  expect(words(expand(progress(listed('a1', 'start'))))).toEqual([
    'task_started a1',
    'r2',
    'task_progress a1',
    'task_progress w1',
  ]);
  expect(waiting()).toBe(0);
  expect(expand(request('r4', 'a2'))).toEqual([]);
  advance(programLimits.workflowAgentMs - 1);
  expect(late).toEqual([]);
  advance(1);
  expect([words(late), programLimits.workflowAgentMs]).toEqual([['r4'], 3_000]);
  // The end of the workflow, and of the program, leaves no timer.
  expand(request('r5', 'a3'));
  const ended = expand({ type: 'system', subtype: 'task_notification', task_id: 'w1', status: 'completed' });
  expect(words(ended)).toEqual(['task_updated a1', 'task_notification w1', 'r5']);
  expect(waiting()).toBe(0);
});

it('[J284] an agent of a workflow is stopped by the task of the workflow, any other by its own', () => {
  const { expand, workflows } = open();
  expand(started());
  expand(progress(listed('a1', 'start')));
  expect(['a1', 'w1', 'b1'].map((id) => workflows.taskOf(id))).toEqual(['w1', 'w1', 'b1']);
});

function open() {
  const { schedule, advance, waiting } = createManualSchedule(createManualClock());
  const late: StreamJsonMessage[] = [];
  const workflows = new Workflows({ schedule, onLate: (request) => void late.push(request) });
  return { workflows, expand: (line: StreamJsonMessage) => workflows.expand(line), late, advance, waiting };
}

function words(lines: readonly StreamJsonMessage[]): string[] {
  return lines.map((line) =>
    line.type === 'system' ? `${line.subtype} ${String(line['task_id'])}` : String(line['request_id']),
  );
}

function started(): StreamJsonMessage {
  const task = { task_id: 'w1', tool_use_id: 'c1', task_type: 'local_workflow', workflow_name: 'sweep' };
  return { type: 'system', subtype: 'task_started', ...task };
}

function progress(...workflow_progress: readonly unknown[]): StreamJsonMessage {
  return { type: 'system', subtype: 'task_progress', task_id: 'w1', workflow_progress };
}

function listed(agentId: string, state: string) {
  return { type: 'workflow_agent', agentId, label: agentId, state };
}

function request(request_id: string, agent_id: string): StreamJsonMessage {
  return { type: 'control_request', request_id, request: { subtype: 'can_use_tool', agent_id } };
}
