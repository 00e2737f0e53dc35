import { afterEach, expect, it, vi } from 'vitest';
import { storeLimits } from './limits.ts';
import { applicableTo, applyToAll, toSessionParams } from './session-actions.ts';
import { ui } from './stores.ts';
import type { ListedSession } from './ui-store.ts';

afterEach(() => vi.unstubAllGlobals());

const toSession = (id: string, state: ListedSession['state']): ListedSession => ({
  id,
  name: id,
  state,
  changes: null,
  threads_count: 1,
  tokens: 0,
  is_read_only: false,
});

it('[Z225] active sessions can be cancelled, others archived or deleted', () => {
  const states = ['needs_you', 'running', 'stalled', 'failed', 'done', 'idle', 'archived'] as const;
  const sessions = states.map((state) => toSession(state, state));
  const ids = (action: 'cancel' | 'archive' | 'delete') => applicableTo(action, sessions).map(({ id }) => id);
  expect(ids('cancel')).toEqual(['needs_you', 'running', 'stalled']);
  expect(ids('archive')).toEqual(['failed', 'done', 'idle']);
  expect(ids('delete')).toEqual(['failed', 'done', 'idle', 'archived']);
  expect(applicableTo('cancel', [{ ...toSession('a', 'running'), is_read_only: true }])).toEqual([]);
});

it('[Z225] an action on many sessions sends four requests at a time, and reports those that fail', async () => {
  let [open, most] = [0, 0];
  vi.stubGlobal('fetch', async (path: string) => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((resolve) => setTimeout(resolve, 1));
    open -= 1;
    return path.includes('bad') ? new Response('{"error":{"message":"it runs"}}', { status: 400 }) : Response.json({});
  });
  const sessions = Array.from({ length: storeLimits.bulkRequestsMax + 1 }, (_, index) =>
    toSession(`s${index}`, 'done'),
  );
  await applyToAll('archive', [...sessions, toSession('bad', 'done')]);
  expect(most).toBe(storeLimits.bulkRequestsMax);
  expect(ui.notice).toEqual({ text: '5 sessions archived. 1 failed: it runs', isProblem: true });
});

it('[Z227] a new session has an agent, a model, a budget in cents and a directory or a repository', () => {
  const plain = { agentId: 'agent_1', model: '', repository: '', budget: '', message: ' Go ' };
  const initial_events = [{ type: 'user.message', content: [{ type: 'text', text: 'Go' }] }];
  expect(toSessionParams(plain)).toEqual({ agent: 'agent_1', initial_events });
  expect(toSessionParams({ ...plain, model: 'm', repository: ' /home/user/a ', budget: '0.29' })).toEqual({
    agent: { type: 'agent_with_overrides', id: 'agent_1', model: 'm' },
    initial_events,
    budget: { type: 'limit', max_list_cost: { amount: '29', currency: 'USD' } },
    resources: [{ type: 'directory', path: '/home/user/a' }],
  });
  expect(toSessionParams({ ...plain, repository: 'https://example.com/a.git' })).toMatchObject({
    resources: [{ type: 'git_repository', url: 'https://example.com/a.git' }],
  });
});
