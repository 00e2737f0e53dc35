import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { NewSessionFrame } from '../frames/frames.ts';
import { encodeFrame } from '../store/frame.ts';
import {
  isDeliverable,
  mayBeDeliverable,
  toDeletedEvent,
  toWebhookEvents,
  type WebhookEvent,
} from './to-webhook-events.ts';

const session = { sessionId: 'sesn_01a', workspaceId: 'wrkspc_1', primaryThreadId: 'sthr_main' };
const time = Date.UTC(2026, 10, 16, 17, 0, 0, 123);

function toFrame(type: string, payload: object): NewSessionFrame {
  // The cast: only the part of a payload that is looked at.
  return { threadId: null, turn: null, time, type, payload } as unknown as NewSessionFrame;
}

/** Each frame with the events that it becomes. */
const delivery: readonly (readonly [type: string, payload: object, events: readonly object[]])[] = [
  ['session.created', {}, [{ type: 'session.created' }]],
  ['session.updated', { title: 'x' }, [{ type: 'session.updated' }]],
  ['session.status_running', {}, [{ type: 'session.status_run_started' }]],
  ['session.status_idle', { stop_reason: { type: 'end_turn' } }, [{ type: 'session.status_idled' }]],
  [
    'session.status_idle',
    { stop_reason: { type: 'requires_action', event_ids: ['sevt_1'] } },
    [{ type: 'session.status_idled' }],
  ],
  [
    'session.status_idle',
    { stop_reason: { type: 'budget_reached' } },
    [{ type: 'session.status_idled' }, { type: 'session.budget_reached' }],
  ],
  ['session.status_rescheduled', {}, [{ type: 'session.status_rescheduled' }]],
  ['session.status_terminated', { is_archived: false }, [{ type: 'session.status_terminated' }]],
  [
    'session.status_terminated',
    { is_archived: true },
    [{ type: 'session.status_terminated' }, { type: 'session.archived' }],
  ],
  ...(
    [
      ['session.thread_created', 'session.thread_created'],
      ['session.thread_status_idle', 'session.thread_idled'],
      ['session.thread_status_terminated', 'session.thread_terminated'],
    ] as const
  ).flatMap(([type, event]) => [
    [type, { session_thread_id: 'sthr_2' }, [{ type: event, session_thread_id: 'sthr_2' }]] as const,
    [type, { session_thread_id: 'sthr_main' }, []] as const,
  ]),
];

describe('events of frames', () => {
  it.each(delivery)('[W61] %s with %j', (type, payload, events) => {
    const frame = toFrame(type, payload);
    expect(toWebhookEvents(session, frame, 7)).toEqual(
      events.map((event, index) => ({
        type: 'event',
        id: index === 0 ? 'whevt_01a_7' : `whevt_01a_7_${index}`,
        created_at: '2026-11-16T17:00:00.123Z',
        data: { ...event, id: 'sesn_01a', organization_id: 'org_default', workspace_id: 'wrkspc_1' },
      })),
    );
    expect(mayBeDeliverable(encodeFrame(frame).bytes)).toBe(true);
  });

  it('[W62] a call that needs a person is an event when it starts to wait; other calls are not events', () => {
    const waits: readonly (readonly [string, object])[] = [
      ['agent.tool_use', { evaluated_permission: 'ask' }],
      ['agent.mcp_tool_use', { evaluated_permission: 'ask' }],
      ['agent.custom_tool_use', {}],
    ];
    for (const [type, payload] of waits) {
      const [event, ...others] = toWebhookEvents(session, toFrame(type, payload), 1);
      expect([event?.data.type, others]).toEqual(['session.requires_action', []]);
      expect(mayBeDeliverable(encodeFrame(toFrame(type, payload)).bytes)).toBe(true);
    }
    for (const permission of ['allow', 'deny']) {
      expect(isDeliverable(toFrame('agent.tool_use', { evaluated_permission: permission }))).toBe(false);
      expect(isDeliverable(toFrame('agent.mcp_tool_use', { evaluated_permission: permission }))).toBe(false);
    }
  });

  it('[J222] a call that a program may still refuse is reported when the program requests approval, and not before', () => {
    const approval = 'on_request';
    for (const [type, payload] of [
      ['agent.tool_use', { evaluated_permission: 'ask', approval }],
      ['agent.mcp_tool_use', { evaluated_permission: 'ask', approval }],
      ['agent.custom_tool_use', { approval }],
    ] as const)
      expect(isDeliverable(toFrame(type, payload))).toBe(false);
    const requested = toFrame('approval.requested', { tool_use_id: 'sevt_1', kind: 'plan', reason: null });
    expect(toWebhookEvents(session, requested, 1).map(({ data }) => data.type)).toEqual(['session.requires_action']);
    expect(mayBeDeliverable(encodeFrame(requested).bytes)).toBe(true);
  });

  it('[W61] nothing else is, and deltas need not be parsed to know it', () => {
    for (const type of ['session.usage', 'session.error', 'session.thread_status_running', 'run.ended', 'user.message'])
      expect(isDeliverable(toFrame(type, {}))).toBe(false);
    expect(
      mayBeDeliverable(encodeFrame(toFrame('delta.text', { id: 'sevt_1', text: 'said session.created' })).bytes),
    ).toBe(false);
  });

  it('[W68] the deletion of a session is an event with an id of its own', () => {
    expect(toDeletedEvent(session, time)).toMatchObject({ id: 'whevt_01a_deleted', data: { type: 'session.deleted' } });
  });

  it('[W60] every event is one that the official client knows', () => {
    expectTypeOf<WebhookEvent>().toExtend<Anthropic.Beta.BetaWebhookEvent>();
  });
});
