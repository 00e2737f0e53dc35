import { encodeFleetEvent, type KnownFleetEvent } from '@fleetloom/protocol/fleet';

/** Threads that work at once, the coordinator among them. */
export const THREADS = 25;
export const SESSION = 'sesn_bench';

/**
 * What 25 threads tell for as long as somebody listens: mostly words, now and then a call, an ask, what a request took. Each
 * event is made when it is asked for, with the time that it is then.
 */
export function* tellLoad(now: () => number): Generator<KnownFleetEvent, never, undefined> {
  let seq = 0;
  const base = () => ({ cursor: String(++seq), session_id: SESSION, seq, ts: now() });
  const of = (id: number) => ({
    ...base(),
    stream_id: id,
    depth: id === 0 ? 0 : 1,
    agent: id === 0 ? 'coordinator' : `worker-${String(id).padStart(2, '0')}`,
    thread_id: `sthr_${id}`,
  });
  yield {
    ...base(),
    type: 'request_received',
    request_id: 'req_bench',
    session_id: SESSION,
    agent: 'coordinator',
    message: 'go',
  };
  for (let id = 0; id < THREADS; id++) {
    const place =
      id === 0 ? { parent_stream_id: null, child_index: null } : { parent_stream_id: 0, child_index: id - 1 };
    yield { ...of(id), type: 'stream_start', ...place, task: `task ${id}`, model: 'claude-sonnet-4-5' };
    yield { ...of(id), type: 'agent_start', model: 'claude-sonnet-4-5', iteration: 1 };
  }
  for (let round = 0; ; round++) {
    const id = 1 + (round % (THREADS - 1));
    const step = Math.floor(round / (THREADS - 1)) % STEPS;
    const call = {
      tool: id % 2 === 0 ? 'grep' : 'read',
      tool_use_id: `sevt_${id}_${round - (round % ((THREADS - 1) * STEPS))}`,
    };
    if (step < 8) yield { ...of(id), type: 'thinking', delta: 'and so it is likely ' };
    else if (step < STEPS - 6)
      yield { ...of(id), type: 'text', delta: step % 29 === 0 ? 'a sentence ends.\n\n' : 'some more words ' };
    else if (step === STEPS - 6)
      yield { ...of(id), type: 'tool_start', ...call, input: { pattern: 'x', path: `src/file-${round % 97}.ts` } };
    else if (step === STEPS - 4) yield { ...of(id), type: 'tool_call', ...call, ok: round % 13 !== 0, duration_ms: 40 };
    else if (step === STEPS - 3) {
      const usage = {
        input_tokens: 1_200,
        output_tokens: 90,
        cache_read_tokens: 0,
        cache_create_tokens: 0,
        cost_usd: 0.004,
      };
      yield {
        ...of(id),
        type: 'token_usage',
        model: 'claude-sonnet-4-5',
        ...usage,
        context_tokens: 30_000,
        context_window: 200_000,
      };
    } else if (step === STEPS - 1) yield { ...of(id), type: 'agent_start', model: 'claude-sonnet-4-5', iteration: 2 };
    else yield { ...of(id), type: 'text', delta: 'so ' };
  }
}

/** Events of one thread until it begins anew. */
const STEPS = 120;

export function encodeLoad(event: KnownFleetEvent): string {
  return encodeFleetEvent(event);
}
