import type { KnownFleetEvent } from './events.ts';

/** The type of a field. `…IfAny`: the field is optional. `…OrNull`, `…OrZero`: this value replaces a missing field. */
export type FieldKind =
  | 'text'
  | 'number'
  | 'count'
  | 'flag'
  | 'texts'
  | 'files'
  | 'tasks'
  | 'value'
  | 'textIfAny'
  | 'numberIfAny'
  | 'countIfAny'
  | 'flagIfAny'
  | 'textOrNull'
  | 'countOrNull'
  | 'countOrZero';

const stream = { stream_id: 'count', depth: 'count', agent: 'text', thread_id: 'textOrNull' } as const;
const toolUse = { ...stream, tool: 'text', tool_use_id: 'text' } as const;
const usage = { input_tokens: 'count', output_tokens: 'count', cost_usd: 'numberIfAny' } as const;
const cache = { cache_read_tokens: 'countOrZero', cache_create_tokens: 'countOrZero' } as const;
const context = { context_tokens: 'countIfAny', context_window: 'countIfAny' } as const;
const place = { parent_stream_id: 'countOrNull', child_index: 'countOrNull' } as const;
const run = { request_id: 'text', session_id: 'text' } as const;
const fault = { message: 'text', code: 'text' } as const;

/**
 * The fields of every event as the parser checks them; those of {@link FleetEventBase} are read separately. A new event
 * needs its type in one of the unions in events.ts, and its line here; the view of the server emits it. Then run
 * `node scripts/event-reference.mjs`, which writes docs/reference. An event without a `stream_id` changes no slot.
 */
export const eventFields = {
  request_received: { ...run, agent: 'text', message: 'text' },
  stream_start: { ...stream, ...place, title: 'textIfAny', task: 'text', model: 'text' },
  agent_start: { ...stream, model: 'text', iteration: 'count' },
  request_queued: { ...stream, reason: 'text', ahead: 'count', until: 'numberIfAny' },
  request_admitted: stream,
  request_retrying: {
    ...stream,
    ...fault,
    reason: 'textIfAny',
    attempt: 'count',
    attempts_max: 'countIfAny',
    retry_at: 'number',
  },
  context_compacted: stream,
  settings_loaded: {
    ...stream,
    settings: 'text',
    instructions: 'texts',
    hooks: 'texts',
    agents: 'texts',
    skills: 'texts',
    rules: 'texts',
  },
  text: { ...stream, delta: 'text' },
  text_retract: { ...stream, from: 'count' },
  thinking: { ...stream, delta: 'text' },
  thinking_retract: { ...stream, from: 'count' },
  plan: { ...stream, items: 'tasks' },
  tool_start: { ...toolUse, input: 'value', awaits_result: 'flagIfAny' },
  tool_output: { ...toolUse, delta: 'text' },
  tool_call: { ...toolUse, ok: 'flag', duration_ms: 'number', error: 'textIfAny' },
  file: { ...stream, path: 'text', size: 'count', encoding: 'text', content: 'text' },
  approval_required: { ...toolUse, input: 'value', kind: 'textIfAny', reason: 'textIfAny' },
  approval_resolved: {
    ...toolUse,
    input: 'value',
    result: 'textIfAny',
    by: 'textIfAny',
    rule: 'textIfAny',
    rule_id: 'textIfAny',
    input_sha256: 'textIfAny',
  },
  sub_agent_response: { ...stream, content: 'text' },
  token_usage: { ...stream, ...usage, ...cache, ...context, model: 'text' },
  stream_end: { ...stream, ok: 'flag', stop_reason: 'text', error: 'textIfAny' },
  error: fault,
  session_error: { ...fault, reason: 'textIfAny' },
  files_rewound: {
    message_id: 'text',
    by: 'text',
    files: 'texts',
    files_count: 'count',
    lines_added: 'count',
    lines_removed: 'count',
  },
  workspace_changed: {
    thread_id: 'textOrNull',
    turn: 'countOrNull',
    tool_use_id: 'textOrNull',
    files: 'files',
    files_count: 'count',
    lines_added: 'count',
    lines_removed: 'count',
    tree: 'text',
  },
  workspace_applied: { by: 'text', onto: 'text', paths_count: 'count', branch: 'textOrNull', commit: 'textOrNull' },
  workspace_discarded: { by: 'text' },
  done: {
    ...run,
    ...usage,
    ok: 'flag',
    content: 'text',
    files_bytes: 'count',
    duration_ms: 'number',
    error: 'textIfAny',
    error_code: 'textIfAny',
  },
  gap: { after: 'text', until: 'text', reason: 'textIfAny' },
  over: { reason: 'text' },
  sessions_changed: { sessions: 'value', counts: 'value' },
} as const satisfies Readonly<Record<KnownFleetEvent['type'], Readonly<Record<string, FieldKind>>>>;
