import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { INTERRUPTED, NOT_CARRIED_OUT } from '@fleetloom/protocol/text';
import { expect, it } from 'vitest';
import { isCutOff, toContinueMessage } from './continue-message.ts';

const at = { processed_at: '2026-01-01T00:00:00Z' };
const use = (id: string, permission: 'ask' | 'allow', of: object = {}) => ({
  ...at,
  ...of,
  type: 'agent.tool_use',
  id,
  name: 'Bash',
  input: { command: id },
  evaluated_permission: permission,
});
const result = (id: string, text: string) => ({
  ...at,
  type: 'agent.tool_result',
  id: `r ${id}`,
  tool_use_id: id,
  content: [{ type: 'text', text }],
  is_error: true,
});
const child = { session_thread_id: 'sthr_1' };

it('[R345] the message that continues a turn names the calls that were not executed and those that were interrupted, of the last turn only', () => {
  const message = toContinueMessage([
    use('old', 'ask'),
    { ...at, type: 'user.message', id: 'm', content: [] },
    use('done', 'allow'),
    result('done', 'fine'),
    use('cut', 'allow'),
    result('cut', INTERRUPTED),
    use('asked', 'ask'),
    result('asked', `${NOT_CARRIED_OUT}: the server restarted.`),
    use('allowed', 'ask', child),
    { ...at, ...child, type: 'user.tool_confirmation', id: 'c', tool_use_id: 'allowed', result: 'allow' },
    use('of child', 'ask', child),
  ] as unknown as SessionEvent[]);
  expect(message.split('\n')).toEqual([
    'Your last turn was cut off, and your program was started again. Continue where you left off.',
    '',
    'These calls were not executed:',
    '- Bash {"command":"asked"}',
    '- Bash {"command":"of child"} (of a sub-agent)',
    '',
    'These calls were interrupted, and may have been executed in part:',
    '- Bash {"command":"cut"}',
  ]);
});

const idle = (type: string) => ({ ...at, type: 'session.status_idle', id: 's', stop_reason: { type } });
const user = { ...at, type: 'user.message', id: 'm', content: [] };
const error = (message: string, retry = 'exhausted') => ({
  ...at,
  type: 'session.error',
  id: 'e',
  error: { type: 'unknown_error', message, retry_status: { type: retry } },
});
const failedChild = { ...idle('retries_exhausted'), ...child, type: 'session.thread_status_idle', agent_name: 'a' };
const lostCommand = error('the background command "sleep 9" ended with the program: the server was restarted');
const is = (...events: readonly object[]) => isCutOff(events as unknown as SessionEvent[]);

it('[V143] a session is cut off when its turn, a sub-agent, an approval or background work was lost since the last message, and it is idle', () => {
  expect(is(user, idle('retries_exhausted'))).toBe(true);
  expect(is(user, idle('end_turn'), failedChild)).toBe(true);
  expect(is(user, idle('end_turn'), lostCommand)).toBe(true);
  expect(is(user, use('a', 'ask'), result('a', `${NOT_CARRIED_OUT}: restarted.`), idle('end_turn'))).toBe(true);
  expect(is(user, idle('end_turn'))).toBe(false);
  expect(is(user, error('x', 'retrying'), idle('end_turn'))).toBe(false);
  expect(is(user, failedChild, idle('requires_action'))).toBe(false);
  expect(is(user, failedChild, { ...at, type: 'session.status_running', id: 'r' })).toBe(false);
  expect(is(user, idle('retries_exhausted'), user)).toBe(false);
});

it('[V143] the message about work in the background names the calls of sub-agents and the lost work', () => {
  const events = [user, use('of child', 'ask', child), idle('end_turn'), failedChild, lostCommand];
  expect(toContinueMessage(events as unknown as SessionEvent[]).split('\n')).toEqual([
    'Work that you started was cut off, and your program was started again. Continue where you left off.',
    '',
    'These calls were not executed:',
    '- Bash {"command":"of child"} (of a sub-agent)',
    '',
    'This work was lost:',
    '- the background command "sleep 9"',
  ]);
});
