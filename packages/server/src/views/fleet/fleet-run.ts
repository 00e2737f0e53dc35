import type { TextRange } from '@fleetloom/protocol/fleet';
import type { FramePayloads } from '../../frames/frames.ts';
import type { FleetStream } from './fleet-stream.ts';

/** A run on a fleet stream: from its input until the session is idle. */
export interface FleetRun {
  readonly id: string;
  readonly startedAt: number;
  /** The open turns. */
  readonly streams: Map<number, FleetStream>;
  inputTokens: number;
  outputTokens: number;
  /** Null: the price of a model is unknown. */
  costNanoUsd: number | null;
  filesBytes: number;
  /** The code of the error that ended the coordinator's turn. */
  errorCode: string | undefined;
  /** Commands in the newest response of the coordinator that were not run. */
  notRun: readonly TextRange[];
  /** Some deltas of this run were removed from the log. */
  isPruned: boolean;
}

/** The state of a run at its start. */
export function startRun(id: string, startedAt: number): FleetRun {
  const totals = { inputTokens: 0, outputTokens: 0, costNanoUsd: 0, filesBytes: 0 };
  return { id, startedAt, streams: new Map(), ...totals, errorCode: undefined, notRun: [], isPruned: false };
}

const NANO = 1_000_000_000;

/** Adds an ended model request to the totals of the run. */
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

/** The last event of a run, after any error. */
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
