import { type FleetEvent, parseFleetEvent } from '@fleetloom/protocol/fleet';

// A run as a server would emit it, for tests: a coordinator and its children, mixed up by a seed.

export interface SampleOptions {
  readonly seed?: number;
  readonly children?: number;
  readonly sessionId?: string;
  readonly startedAt?: number;
  /** Whether the run stays open, with one child that waits for an approval. */
  readonly isOpen?: boolean;
}

export function sampleLog(options: SampleOptions = {}): FleetEvent[] {
  const { seed = 1, children = 5, sessionId = 'sesn_1', startedAt = 1_000_000, isOpen = false } = options;
  const random = createRandom(seed);
  const events: FleetEvent[] = [];
  let time = startedAt;
  const emit = (event: string, fields: object) => {
    time += Math.floor(random() * 300);
    const seq = events.length + 1;
    const data = JSON.stringify({ session_id: sessionId, seq, ts: time, ...fields });
    events.push(parseFleetEvent({ event, id: String(seq), data }));
  };
  const of = (id: number) => ({
    stream_id: id,
    depth: id === 0 ? 0 : 1,
    agent: id === 0 ? 'coordinator' : `worker${id % 2}`,
    thread_id: `sthr_${sessionId}_${id}`,
  });
  const total = { input_tokens: 0, output_tokens: 0, cost_usd: 0 };
  const use = (id: number) => {
    const usage = { input_tokens: 100 + id, output_tokens: 10 + id, cost_usd: 0.001 };
    total.input_tokens += usage.input_tokens;
    total.output_tokens += usage.output_tokens;
    total.cost_usd += usage.cost_usd;
    emit('token_usage', { ...of(id), model: 'm', ...usage, context_tokens: 500, context_window: 1_000 });
  };
  const start = (id: number, parent: number | null) =>
    emit('stream_start', {
      ...of(id),
      parent_stream_id: parent,
      child_index: parent === null ? null : id - 1,
      task: `task ${id}`,
      model: 'm',
    });

  emit('request_received', { request_id: 'req_1', agent: 'coordinator', message: 'go' });
  start(0, null);
  emit('agent_start', { ...of(0), model: 'm', iteration: 1 });
  emit('thinking', { ...of(0), delta: 'who can help?' });
  emit('text', { ...of(0), delta: 'I delegate.' });
  emit('tool_start', { ...of(0), tool: 'delegate', tool_use_id: 'sevt_delegate', input: {} });
  use(0);
  for (let id = 1; id <= children; id++) start(id, 0);
  const plans = Array.from({ length: children }, (_, index) => planOf(index + 1));
  while (plans.some((plan) => plan.length > 0)) {
    const left = plans.filter((plan) => plan.length > 0);
    left[Math.floor(random() * left.length)]!.shift()!();
  }
  if (isOpen) return events;
  emit('tool_call', { ...of(0), tool: 'delegate', tool_use_id: 'sevt_delegate', ok: true, duration_ms: 1_000 });
  emit('agent_start', { ...of(0), model: 'm', iteration: 2 });
  emit('text', { ...of(0), delta: 'All done.' });
  use(0);
  emit('stream_end', { ...of(0), ok: true, stop_reason: 'end_turn' });
  emit('done', {
    request_id: 'req_1',
    ok: true,
    content: 'All done.',
    files_bytes: 0,
    duration_ms: time - startedAt,
    ...total,
  });
  return events;

  function planOf(id: number): (() => void)[] {
    const call = { ...of(id), tool: 'bash', tool_use_id: `sevt_${sessionId}_${id}` };
    const input = { command: `ls ${id}` };
    const steps = [
      () => emit('agent_start', { ...of(id), model: 'm', iteration: 1 }),
      () => emit('thinking', { ...of(id), delta: 'hm' }),
      () => emit('text', { ...of(id), delta: `I look. That is why ${id}. ` }),
      () => emit('text', { ...of(id), delta: 'I need the list.' }),
      () => emit('approval_required', { ...call, input }),
    ];
    if (isOpen && id === 1) return steps;
    return [
      ...steps,
      () => emit('approval_resolved', { ...call, input, result: 'allow', by: 'me' }),
      () => emit('tool_start', { ...call, input }),
      () =>
        emit('tool_call', {
          ...call,
          ok: id % 3 !== 0,
          duration_ms: 20,
          ...(id % 3 === 0 ? { error: 'no such file' } : {}),
        }),
      () => emit('file', { ...of(id), path: 'same.md', size: 3, encoding: 'utf-8', content: 'abc' }),
      () => use(id),
      () => emit('stream_end', { ...of(id), ok: true, stop_reason: 'end_turn' }),
    ];
  }
}

export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
