import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

it('[Z356] a coordinator whose last turn failed is continued with one message; others cannot be', async () => {
  const asked: { readonly url: string; readonly body: unknown }[] = [];
  const events = [
    { type: 'session.status_idle', stop_reason: { type: 'retries_exhausted' } },
    {
      type: 'agent.tool_result',
      tool_use_id: 'c1',
      content: [{ type: 'text', text: 'This call was not carried out: the server restarted.' }],
    },
    { type: 'agent.tool_use', id: 'c1', name: 'Bash', input: { command: 'ls' }, evaluated_permission: 'ask' },
    { type: 'user.message', id: 'm1', content: [] },
  ];
  vi.stubGlobal('location', new URL('http://here/'));
  vi.stubGlobal('fetch', async (url: URL | string, init: RequestInit = {}) => {
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : null;
    asked.push({ url: String(url), body });
    return Response.json(init.method === 'POST' ? { data: [] } : { data: events, next_page: null });
  });
  const { canContinue, continueSession } = await import('./actions.ts');
  expect(canContinue({ level: 0, state: 'error' })).toBe(true);
  expect(canContinue({ level: 1, state: 'error' })).toBe(false);
  expect(canContinue({ level: 0, state: 'done' })).toBe(false);
  await continueSession('sesn_1');
  expect(asked.map(({ url }) => url.replace(/^.*v1/, 'v1'))).toEqual([
    'v1/sessions/sesn_1/events?order=desc&limit=100',
    'v1/sessions/sesn_1/events',
  ]);
  expect(asked[1]!.body).toMatchObject({
    events: [
      {
        type: 'user.message',
        content: [
          { text: expect.stringMatching(/Continue where you left off[^]*not carried out:\n- Bash {"command":"ls"}/) },
        ],
      },
    ],
  });
});
