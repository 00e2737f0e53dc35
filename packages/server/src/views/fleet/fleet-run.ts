import type { TextRange } from '@fleetloom/protocol/fleet';
import type { FramePayloads } from '../../frames/frames.ts';
import type { FleetStream } from './fleet-stream.ts';

/** A run on a fleet stream: from its input until the session is idle. */
export interface FleetRun {
  readonly id: string;
  readonly startedAt: number;
  /** Turns that have not ended. */
  readonly streams: Map<number, FleetStream>;
  inputTokens: number;
  outputTokens: number;
  /** Null: a price was not known. */
  costNanoUsd: number | null;
  filesBytes: number;
  /** Why its master could not go on. */
  errorCode: string | undefined;
  /** Commands in the newest answer of its master that were not run. */
  notRun: readonly TextRange[];
  /** Some of its deltas were removed from the log. */
  isPruned: boolean;
}

/** The state of a run at its start. */
export function startRun(id: string, startedAt: number): FleetRun {
  const totals = { inputTokens: 0, outputTokens: 0, costNanoUsd: 0, filesBytes: 0 };
  return { id, startedAt, streams: new Map(), ...totals, errorCode: undefined, notRun: [], isPruned: false };
}

const NANO = 1_000_000_000;

/** Counts a model request that has ended. The totals of the run are the sum of these events. */
export function addRequest(run: FleetRun, request: FramePayloads['span.model_request_end']) {
  const { model, model_usage: usage, context_window: window } = request;
  const { input_tokens, output_tokens, cost_nano_usd: cost } = usage;
  run.inputTokens += input_tokens;
  run.outputTokens += output_tokens;
  run.costNanoUsd = run.costNanoUsd === null || cost === null ? null : run.costNanoUsd + cost;
  const cached = usage.cache_read_input_tokens;
  const cachedNow = usage.cache_creation_5m_input_tokens + usage.cache_creation_1h_input_tokens;
  const filled = input_tokens + cached + cachedNow + output_tokens;
  return {
    type: 'token_usage',
    model,
    input_tokens,
    output_tokens,
    cache_read_tokens: cached,
    cache_create_tokens: cachedNow,
    ...(cost === null ? {} : { cost_usd: cost / NANO }),
    ...(window === undefined ? {} : { context_tokens: filled, context_window: window }),
  } as const;
}

/** The last word, after what went wrong. */
export function toDone(run: FleetRun, ended: FramePayloads['run.ended'], time: number) {
  const { ok, stop_reason, content, error } = ended;
  const code = ended.code ?? (stop_reason === 'error' ? run.errorCode : undefined) ?? stop_reason;
  const message = error ?? code;
  const done = {
    type: 'done',
    ok,
    request_id: run.id,
    content,
    input_tokens: run.inputTokens,
    output_tokens: run.outputTokens,
    ...(run.costNanoUsd === null ? {} : { cost_usd: run.costNanoUsd / NANO }),
    files_bytes: run.filesBytes,
    duration_ms: time - run.startedAt,
    ...(ok ? {} : { error: message, error_code: code }),
  } as const;
  return ok ? [done] : [{ type: 'error', message, code } as const, done];
}
