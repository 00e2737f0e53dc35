import { expect, it } from 'vitest';
import { assistant, init, translate } from '../../../../../test/support/lines.ts';

const progress = { type: 'tool_progress', tool_use_id: 'progress_1', elapsed_time_seconds: 60 };

it('[MX104] the progress of a long call opens no thread, and that of a sub-agent that is retried does', () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'mcp__desk__delegate', input: {} };
  const lines = [init(), assistant('m1', [call]), { ...progress, parent_tool_use_id: 'toolu_1' }];
  const opened = translate(lines).filter(({ type }) => type === 'thread_start');
  expect(opened).toEqual(translate(lines.slice(0, 2)).filter(({ type }) => type === 'thread_start'));
  const retried = { ...progress, parent_tool_use_id: 'toolu_1', subagent_retry: { agent_id: 'a1', attempt: 1 } };
  expect(translate([...lines.slice(0, 2), retried]).filter(({ type }) => type === 'thread_start')).toHaveLength(
    opened.length + 1,
  );
});
