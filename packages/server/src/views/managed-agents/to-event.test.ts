import { describe, expect, it } from 'vitest';
import type { FrameType } from '../../frames/frames.ts';
import type { UsageTotals } from '../../frames/payload-parts.ts';
import { AT, CHILD, childPlace, PRIMARY, primaryPlace, sample, toFrame } from './sample-frames.suite.ts';
import { toEvent } from './to-event.ts';

const id = 'sevt_1';
const done = { id, processed_at: AT };
const who = { session_thread_id: PRIMARY, agent_name: 'lead' };
const text = [{ type: 'text' as const, text: 'hello' }];
const call = { id, call_id: 'toolu_1', name: 'bash', input: { command: 'ls' } };
const result = { id, content: text, is_error: false, is_interrupted: false, duration_ms: 3, closes_ask: null };
const usage: UsageTotals = {
  input_tokens: 10,
  output_tokens: 5,
  cache_read_input_tokens: 4,
  cache_creation_5m_input_tokens: 2,
  cache_creation_1h_input_tokens: 1,
  cost_nano_usd: 25_000_000,
};
const budget = { cost_nano_usd: 1_000_000_000, tokens: null, requests: null, wall_ms: null };
const wireBudget = { type: 'limit', max_list_cost: { amount: '100', currency: 'USD' } };
const refusal = { type: 'refusal' as const, category: 'cyber', explanation: 'no' };

/** Every event of the wire, from the frame that it is made of. */
const rows: readonly (readonly [ReturnType<typeof sample>, object])[] = [
  [sample('user.message', { id, content: text, is_processed: true }), { content: text, ...done }],
  [sample('user.message', { id, content: text, is_processed: false }), { content: text, id, processed_at: null }],
  [sample('system.message', { id, content: text, is_processed: true }), { content: text, ...done }],
  [sample('system.message', { id, content: text, is_processed: false }), { content: text, id, processed_at: null }],
  [sample('user.interrupt', { id, session_thread_id: null }, null), done],
  [
    sample('user.tool_confirmation', { id, tool_use_id: 'sevt_2', result: 'allow', deny_message: null }),
    { ...done, tool_use_id: 'sevt_2', result: 'allow' },
  ],
  [
    sample('user.tool_confirmation', {
      id,
      tool_use_id: 'sevt_2',
      result: 'deny',
      deny_message: 'no',
      by: 'ann',
      rule: 'x',
      input_sha256: 'y',
    }),
    { ...done, tool_use_id: 'sevt_2', result: 'deny', deny_message: 'no' },
  ],
  [
    sample('user.custom_tool_result', {
      id,
      custom_tool_use_id: 'sevt_2',
      content: text,
      is_error: true,
      by: 'ann',
      input_sha256: 'y',
    }),
    { ...done, custom_tool_use_id: 'sevt_2', content: text, is_error: true },
  ],
  [
    sample('user.tool_result', { id, tool_use_id: 'sevt_2', content: [], is_error: false }),
    { ...done, tool_use_id: 'sevt_2', content: [], is_error: false },
  ],
  [sample('session.status_running', { id }, null), done],
  [sample('session.status_rescheduled', { id }, null), done],
  [sample('session.status_terminated', { id, is_archived: true }, null), done],
  [
    sample('session.status_idle', { id, stop_reason: { type: 'end_turn' }, stop_details: null }, null),
    { ...done, stop_reason: { type: 'end_turn' }, stop_details: null },
  ],
  [
    sample('session.status_idle', { id, stop_reason: { type: 'refusal' }, stop_details: refusal }, null),
    { ...done, stop_reason: { type: 'refusal' }, stop_details: refusal },
  ],
  [sample('session.updated', { id, title: null }, null), { ...done, title: null }],
  [sample('session.updated', { id, metadata: { a: '1' } }, null), { ...done, metadata: { a: '1' } }],
  [sample('session.updated', { id, budget: null }, null), { ...done, budget: null }],
  [sample('session.updated', { id, budget }, null), { ...done, budget: wireBudget }],
  [
    sample('session.usage', { id, usage, active_ms: 1_500, budget: null }, null),
    {
      ...done,
      usage: {
        input_tokens: 10,
        output_tokens: 5,
        cache_read_input_tokens: 4,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 1 },
        active_seconds: 1.5,
        list_cost: { amount: '3', currency: 'USD' },
      },
      budget: null,
    },
  ],
  [
    sample('session.error', {
      id,
      error: { type: 'billing_error', message: 'pay', reason: 'billing' },
      retry: 'exhausted',
      retry_at: null,
    }),
    { ...done, error: { type: 'billing_error', message: 'pay', retry_status: { type: 'exhausted' } } },
  ],
  [
    sample('session.error', {
      id,
      error: { type: 'mcp_connection_failed_error', message: 'gone', mcp_server_name: 'docs' },
      retry: 'retrying',
      retry_at: null,
    }),
    {
      ...done,
      error: {
        type: 'mcp_connection_failed_error',
        message: 'gone',
        mcp_server_name: 'docs',
        retry_status: { type: 'retrying' },
      },
    },
  ],
  [
    sample('session.thread_created', {
      id,
      session_thread_id: CHILD,
      agent_name: 'helper',
      member: 0,
      depth: 1,
      joined_by: null,
    }),
    { ...done, session_thread_id: CHILD, agent_name: 'helper', workflow_run_id: null },
  ],
  [sample('session.thread_status_running', { id, ...who }), { ...done, ...who }],
  [sample('session.thread_status_rescheduled', { id, ...who }), { ...done, ...who }],
  [sample('session.thread_status_terminated', { id, ...who, is_archived: false }), { ...done, ...who }],
  [
    sample('session.thread_status_idle', {
      id,
      ...who,
      stop_reason: { type: 'requires_action', event_ids: ['sevt_2'] },
      stop_details: null,
    }),
    { ...done, ...who, stop_reason: { type: 'requires_action', event_ids: ['sevt_2'] }, stop_details: null },
  ],
  [sample('agent.message', { id, content: text }), { ...done, content: text }],
  [sample('agent.thinking', { id, block: { type: 'thinking', thinking: 'secret', signature: 's' } }), done],
  [
    sample('agent.tool_use', { ...call, kind: 'builtin', runs_at: 'server', evaluated_permission: 'allow' }),
    {
      ...done,
      name: 'bash',
      input: { command: 'ls' },
      evaluated_permission: 'allow',
      evaluation: { type: 'always_allow' },
    },
  ],
  [
    sample('agent.tool_use', { ...call, kind: 'builtin', runs_at: 'server', evaluated_permission: 'deny' }),
    { ...done, name: 'bash', input: { command: 'ls' }, evaluated_permission: 'deny' },
  ],
  [
    sample('agent.tool_use', {
      ...call,
      input: 'no object',
      kind: 'builtin',
      runs_at: 'server',
      evaluated_permission: 'ask',
    }),
    {
      ...done,
      name: 'bash',
      input: { input: 'no object' },
      evaluated_permission: 'ask',
      evaluation: { type: 'always_ask' },
    },
  ],
  [
    sample('agent.mcp_tool_use', {
      ...call,
      name: 'find',
      called_as: 'docs_find',
      mcp_server_name: 'docs',
      evaluated_permission: 'ask',
    }),
    {
      ...done,
      name: 'find',
      mcp_server_name: 'docs',
      input: { command: 'ls' },
      evaluated_permission: 'ask',
      evaluation: { type: 'always_ask' },
    },
  ],
  [sample('agent.custom_tool_use', call), { ...done, name: 'bash', input: { command: 'ls' } }],
  [
    sample('agent.tool_result', { ...result, tool_use_id: 'sevt_2' }),
    { ...done, tool_use_id: 'sevt_2', content: text, is_error: false },
  ],
  [
    sample('agent.mcp_tool_result', { ...result, mcp_tool_use_id: 'sevt_2' }),
    { ...done, mcp_tool_use_id: 'sevt_2', content: text, is_error: false },
  ],
  [
    sample('agent.thread_message_sent', { id, to_session_thread_id: CHILD, to_agent_name: 'helper', content: text }),
    { ...done, to_session_thread_id: CHILD, to_agent_name: 'helper', content: text },
  ],
  [
    sample('agent.thread_message_sent', { id, to_session_thread_id: PRIMARY, to_agent_name: null, content: text }),
    { ...done, to_session_thread_id: PRIMARY, content: text },
  ],
  [
    sample('agent.thread_message_received', {
      id,
      from_session_thread_id: CHILD,
      from_agent_name: 'helper',
      content: text,
      is_processed: false,
      answers_call: null,
      is_error: false,
    }),
    { ...done, from_session_thread_id: CHILD, from_agent_name: 'helper', content: text },
  ],
  [sample('agent.thread_context_compacted', { id, history: [] }), done],
  [sample('span.model_request_start', { id, model: 'm', iteration: 1, purpose: 'turn' }), done],
  [
    sample('span.model_request_end', {
      id,
      model_request_start_id: 'sevt_0',
      is_error: false,
      model: 'm',
      model_usage: usage,
      stop_reason: 'end_turn',
      stop_details: null,
    }),
    {
      ...done,
      model_request_start_id: 'sevt_0',
      is_error: false,
      model_usage: { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 3, cache_read_input_tokens: 4 },
    },
  ],
];

describe('events as the wire has them', () => {
  it.each(rows.map(([given, fields]) => [given.type, given, fields] as const))(
    '[Q11] %s has the fields of the contract and no other',
    (type, given, fields) => {
      expect(toEvent(toFrame(given), primaryPlace)).toEqual({ type, ...fields });
      // Nothing is there with the value undefined: JSON would not have it.
      expect(JSON.parse(JSON.stringify(toEvent(toFrame(given), primaryPlace)))).toEqual({ type, ...fields });
    },
  );

  it('[Q11] frames of our own extensions are not on this wire', () => {
    const ours: readonly FrameType[] = [
      'run.started',
      'run.ended',
      'turn.started',
      'turn.ended',
      'tool.started',
      'delta.text',
      'agent.block',
      'session.created',
    ];
    for (const type of ours)
      expect(toEvent(toFrame({ threadId: PRIMARY, type, payload: {} }), primaryPlace)).toBeUndefined();
  });

  it('[Q11] a refusal whose category the wire does not know has none', () => {
    const details = { ...refusal, category: 'something_new' };
    const event = toEvent(
      toFrame(sample('session.status_idle', { id, stop_reason: { type: 'refusal' }, stop_details: details }, null)),
      primaryPlace,
    );
    expect(event).toMatchObject({ stop_details: { type: 'refusal', category: null, explanation: 'no' } });
  });

  it('[Q11] all readers of a frame receive the same object, so that it is encoded once', () => {
    const frame = toFrame(sample('agent.message', { id, content: text }));
    expect(toEvent(frame, primaryPlace)).toBe(toEvent(frame, primaryPlace));
  });
});

describe('who sees what', () => {
  const onChild = (given: ReturnType<typeof sample>) => toFrame({ ...given, threadId: CHILD });
  const shownTo = (given: ReturnType<typeof sample>) => {
    const frame = onChild(given);
    const ofSession = toEvent(frame, primaryPlace);
    const ofThread = toEvent(frame, childPlace);
    return { ofSession, ofThread };
  };

  it('[Q12] a pending call of a child is on both streams with the same id, and only the copy names the thread', () => {
    const asks = [
      sample('agent.tool_use', { ...call, kind: 'builtin', runs_at: 'server', evaluated_permission: 'ask' }),
      sample('agent.tool_use', { ...call, kind: 'builtin', runs_at: 'worker', evaluated_permission: 'allow' }),
      sample('agent.mcp_tool_use', { ...call, called_as: 'x', mcp_server_name: 'docs', evaluated_permission: 'ask' }),
      sample('agent.custom_tool_use', call),
      sample('user.tool_confirmation', { id, tool_use_id: 'sevt_2', result: 'allow', deny_message: null }),
      sample('user.custom_tool_result', { id, custom_tool_use_id: 'sevt_2', content: [], is_error: false }),
      sample('user.tool_result', { id, tool_use_id: 'sevt_2', content: [], is_error: false }),
      sample('user.interrupt', { id, session_thread_id: CHILD }),
    ];
    for (const ask of asks) {
      const { ofSession, ofThread } = shownTo(ask);
      expect(ofSession).toEqual({ ...ofThread, session_thread_id: CHILD });
      expect(ofThread).not.toHaveProperty('session_thread_id');
    }
  });

  it('[Q12] statuses and errors of a child are on both streams, unchanged', () => {
    const of = { id, session_thread_id: CHILD, agent_name: 'helper' };
    const statuses = [
      sample('session.thread_status_running', of),
      sample('session.thread_status_rescheduled', of),
      sample('session.thread_status_terminated', { ...of, is_archived: true }),
      sample('session.thread_status_idle', { ...of, stop_reason: { type: 'end_turn' }, stop_details: null }),
      sample('session.error', {
        id,
        error: { type: 'unknown_error', message: 'x' },
        retry: 'retrying',
        retry_at: null,
      }),
    ];
    for (const status of statuses) {
      const { ofSession, ofThread } = shownTo(status);
      expect(ofSession).toEqual(ofThread);
      expect(ofThread).toBeDefined();
    }
  });

  it('[Q12] text and tool calls of a child are on its own thread only', () => {
    const own = [
      sample('agent.message', { id, content: text }),
      sample('agent.thinking', { id, block: { type: 'thinking', thinking: 'x', signature: 's' } }),
      sample('agent.tool_use', { ...call, kind: 'builtin', runs_at: 'server', evaluated_permission: 'allow' }),
      sample('agent.tool_use', { ...call, kind: 'builtin', runs_at: 'server', evaluated_permission: 'deny' }),
      sample('agent.mcp_tool_use', { ...call, called_as: 'x', mcp_server_name: 'docs', evaluated_permission: 'allow' }),
      sample('agent.tool_result', { ...result, tool_use_id: 'sevt_2' }),
      sample('agent.mcp_tool_result', { ...result, mcp_tool_use_id: 'sevt_2' }),
      sample('agent.thread_message_sent', { id, to_session_thread_id: PRIMARY, to_agent_name: null, content: text }),
      sample('agent.thread_context_compacted', { id, history: [] }),
      sample('span.model_request_start', { id, model: 'm', iteration: 1, purpose: 'turn' }),
    ];
    for (const each of own) {
      const { ofSession, ofThread } = shownTo(each);
      expect(ofSession).toBeUndefined();
      expect(ofThread).toMatchObject({ id });
    }
  });

  it('[Q12] events of the session are on the primary thread, and on no other', () => {
    const frame = toFrame(sample('session.status_running', { id }, null));
    expect(toEvent(frame, primaryPlace)).toMatchObject({ id });
    expect(toEvent(frame, childPlace)).toBeUndefined();
    const ofPrimary = toFrame(sample('agent.message', { id, content: text }));
    expect(toEvent(ofPrimary, childPlace)).toBeUndefined();
  });
});
