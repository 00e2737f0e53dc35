import type { Slot, StateId } from '@fleetloom/protocol/fleet';
import type { SessionModel } from '../model/session-model.ts';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

it('[Z356] a session is continued with one message, which names the calls that were not executed', async () => {
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
  const { continueSession } = await import('./actions.ts');
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
          { text: expect.stringMatching(/Continue where you left off[^]*not executed:\n- Bash {"command":"ls"}/) },
        ],
      },
    ],
  });
});

it('[Z358] a coordinator whose last turn failed can be continued, and one whose sub-agent failed in the newest run', async () => {
  vi.stubGlobal('location', new URL('http://here/'));
  const { canContinue } = await import('./actions.ts');
  // Only the fields that are read.
  const slot = {} as Slot;
  const session = { slots: { runs: [{ slots: [slot] }], errors: [] } } as unknown as SessionModel;
  const row = (level: number, state: StateId) => ({ sessionId: 'sesn_1', level, state, session, slot });
  const can = (index: number, ...rows: ReturnType<typeof row>[]) => canContinue(rows[index]!, rows);
  expect(can(0, row(0, 'error'))).toBe(true);
  expect(can(0, row(0, 'done'))).toBe(false);
  expect(can(0, row(0, 'done'), row(1, 'done'))).toBe(false);
  // A background sub-agent was cut off after its coordinator's turn had ended.
  expect(can(0, row(0, 'done'), row(1, 'error'))).toBe(true);
  expect(can(1, row(0, 'done'), row(1, 'error'))).toBe(true);
  expect(can(1, row(0, 'waits'), row(1, 'error'))).toBe(false);
  expect(can(0, row(0, 'waits'), row(1, 'error'))).toBe(false);
  const old = { ...row(1, 'error'), slot: {} as Slot };
  expect(can(0, row(0, 'done'), old)).toBe(false);
});

it('[Z359] a coordinator that lost a background command can be continued from its thread while no turn is open', async () => {
  vi.stubGlobal('location', new URL('http://here/'));
  const slot = {} as Slot;
  const session = { slots: { runs: [{ slots: [slot] }], errors: [] } } as unknown as SessionModel;
  const row = (level: number, state: StateId) => ({ sessionId: 'sesn_1', level, state, session, slot });
  const { canContinue } = await import('./actions.ts');
  const { ThreadEvents } = await import('../session/transcript/thread-events.ts');
  const lost = 'the background command "sleep 9" ended with the program: the server was restarted';
  const error = { type: 'unknown_error', message: lost, retry_status: { type: 'exhausted' } };
  const data = [
    { type: 'user.message', id: 'm1', content: [] },
    { type: 'session.error', id: 'e1', error },
  ];
  vi.stubGlobal('fetch', async () => Response.json({ data, next_page: null }));
  const events = new ThreadEvents('sesn_1', 'sthr_1');
  expect(events.isCutOff).toBe(false);
  await events.refresh();
  expect(events.isCutOff).toBe(true);
  expect(canContinue(row(0, 'done'), [], events.isCutOff)).toBe(true);
  expect(canContinue(row(0, 'done'), [])).toBe(false);
  expect(canContinue(row(0, 'waits'), [], events.isCutOff)).toBe(false);
});

it('[V164] a coordinator of whose session the fleet stream reports a loss can be continued, while no turn is open', async () => {
  vi.stubGlobal('location', new URL('http://here/'));
  const { canContinue } = await import('./actions.ts');
  const slot = {} as Slot;
  const session = {
    slots: { runs: [{ slots: [slot] }], errors: [{ type: 'session_error' }] },
  } as unknown as SessionModel;
  const row = (level: number, state: StateId) => ({ sessionId: 'sesn_1', level, state, session, slot });
  expect(canContinue(row(0, 'done'), [row(0, 'done')])).toBe(true);
  expect(canContinue(row(0, 'writing'), [row(0, 'writing')])).toBe(false);
});
