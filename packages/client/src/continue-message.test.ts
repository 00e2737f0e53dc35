import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { INTERRUPTED, NOT_CARRIED_OUT } from '@fleetloom/protocol/text';
import { expect, it } from 'vitest';
import { toContinueMessage } from './continue-message.ts';

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

it('[R345] the message that continues a turn names the calls that were not carried out and those that were interrupted, of the last turn only', () => {
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
    'These calls were not carried out:',
    '- Bash {"command":"asked"}',
    '- Bash {"command":"of child"} (of a sub-agent)',
    '',
    'These calls were interrupted, and may have been carried out in part:',
    '- Bash {"command":"cut"}',
  ]);
});
