import { expect, it } from 'vitest';
import type { AnswerEvent, AnswerFailure } from '../../gateway/events.ts';
import { SubagentRetries } from './subagent-retries.ts';

it('[J297] a retry that both sources report is emitted once, whichever comes first', () => {
  const retries = new SubagentRetries();
  const fail = () => retries.takeTapped(tapped({ type: 'failed', failure: refused(529) }));
  const request = () => retries.takeTapped(tapped({ type: 'requested' }));
  const print = () => retries.takeLine(line);
  fail();
  expect(print()).toMatchObject({
    key: 'a1',
    retry: { status: 529, delayMs: 500, retriesMax: 10, message: 'overloaded' },
  });
  expect(request()).toBeNull();
  // The line comes late.
  fail();
  expect(request()).toMatchObject({ status: 529, delayMs: 0, retriesMax: null, message: 'Overloaded' });
  expect(print()).toBeNull();
  // No line comes at all, as from an agent in the background.
  fail();
  expect(request()).not.toBeNull();
  expect(request()).toBeNull();
});

it('[J297] a request that is not sent again as it was, or only after its agent has ended, is not a retry', () => {
  const failures: AnswerFailure[] = [
    refused(400),
    refused(404),
    { reason: 'aborted', status: null, message: 'x' },
    { reason: 'unreadable', status: null, message: 'x' },
  ];
  const retries = new SubagentRetries();
  for (const failure of failures) {
    retries.takeTapped(tapped({ type: 'failed', failure }));
    expect(retries.takeTapped(tapped({ type: 'requested' }))).toBeNull();
  }
  retries.takeTapped(tapped({ type: 'failed', failure: refused(529) }));
  retries.ended('a1');
  expect(retries.takeTapped(tapped({ type: 'requested' }))).toBeNull();
  expect(retries.takeLine({ type: 'tool_progress', tool_name: 'Bash' })).toBeNull();
});

const line = {
  type: 'tool_progress',
  subagent_retry: {
    agent_id: 'a1',
    attempt: 1,
    max_retries: 10,
    retry_delay_ms: 500,
    error_status: 529,
    error_category: 'overloaded',
  },
};

function refused(status: number): AnswerFailure {
  return { reason: 'refused', status, message: 'Overloaded' };
}

function tapped(event: AnswerEvent) {
  return { sessionId: 's', agentId: 'a1', parentAgentId: null, requestId: 'r', messageId: null, model: null, event };
}
