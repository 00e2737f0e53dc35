import Anthropic from '@anthropic-ai/sdk';
import { systemClock } from '../../../base/clock.ts';
import type { Json, JsonObject } from '../../../base/json/json.ts';
import { modelLimits } from '../limits.ts';
import type { Engine, ModelRequest } from '../engine.ts';
import { connectionLost } from '../failures.ts';
import { AnswerWait, createClosing, runAnswer } from '../run-answer.ts';
import { type Schedule, systemSchedule } from '../../../base/schedule.ts';
import { classifyError, type ErrorContext } from './classify-error.ts';
import { guardFetch } from './guard-fetch.ts';
import { createGovernor, type Governor, type Permit, type PermitOutcome } from './governor.ts';
import { readStream } from './read-stream.ts';
import { StreamError } from './stream-error.ts';
import { toParams } from './to-params.ts';
import { withTimeout } from './with-timeout.ts';
import type { MessagesEngineOptions } from './options.ts';

/** The engine itself, with the SDK, which takes a while to load. */
export function createSdkEngine(options: MessagesEngineOptions): Engine {
  const settings = toSettings(options);
  const closing = createClosing();
  return {
    request: (request, signal) => {
      const open = (life: AbortSignal) => ask(settings, request, life);
      const classify = (error: unknown) => classifyError(error, settings.errors);
      const { model, onUsage } = request;
      return runAnswer({ model: model.id, open, classify, onUsage }, [signal, closing.signal]);
    },
    close: async () => closing.close(),
  };
}

interface Settings {
  readonly client: Anthropic;
  readonly governor: Governor;
  readonly errors: ErrorContext;
  readonly firstByteMs: number;
  readonly silenceMs: number;
  readonly schedule: Schedule;
  readonly caching: boolean;
  readonly maxTokens: number | undefined;
}

function toSettings(options: MessagesEngineOptions): Settings {
  const { credential, baseURL = DEFAULT_BASE_URL, clock = systemClock, schedule = systemSchedule } = options;
  const { firstByteMs = modelLimits.engineFirstByteMs, silenceMs = modelLimits.engineSilenceMs } = options;
  const { governor = createGovernor({ clock, schedule }), caching = true, maxTokens } = options;
  return {
    client: new Anthropic({
      ...credential,
      baseURL,
      maxRetries: 0,
      timeout: firstByteMs,
      // Every failure becomes an event. The SDK's own log could contain secrets.
      logLevel: 'off',
      fetch: guardFetch(options.fetch ?? globalThis.fetch),
    }),
    governor,
    errors: { endpoint: toOrigin(baseURL), secrets: Object.values(credential), now: clock.now },
    firstByteMs,
    silenceMs,
    schedule,
    caching,
    maxTokens,
  };
}

const DEFAULT_BASE_URL = 'https://api.anthropic.com';

/** The origin of an address, without a password that it may contain. */
function toOrigin(baseURL: string): string {
  return URL.canParse(baseURL) ? new URL(baseURL).origin : 'the endpoint';
}

/** Waits for a permit, sends the request and reads the response. The outcome is reported to the governor in every case. */
async function* ask(
  settings: Settings,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<Json | AnswerWait, void> {
  const { governor, errors, silenceMs, schedule, caching, maxTokens } = settings;
  let wait: AnswerWait | undefined;
  const permitted = governor.acquire(request.thread.id, signal, (state) => {
    wait = new AnswerWait({ type: 'queued', ...state });
    request.onSign?.('queued');
  });
  let permit: Permit | undefined;
  let outcome: PermitOutcome = { type: 'other' };
  try {
    if (wait !== undefined) yield wait;
    permit = await permitted;
    if (permit === undefined) return;
    if (wait !== undefined) yield new AnswerWait({ type: 'admitted' });
    request.onSign?.('sent');
    const response = await send(settings, toParams(request, { caching, maxTokens }), signal);
    request.onSign?.('open');
    const onBytes = () => request.onSign?.('byte');
    for await (const event of readStream(response, { silenceMs, schedule, onBytes })) {
      if (isStop(event)) outcome = { type: 'answered' };
      yield event;
    }
  } catch (error) {
    outcome = toOutcome(classifyError(error, errors));
    throw error;
  } finally {
    // The consumer may stop reading while queued; a permit granted afterwards must still be released.
    if (permit === undefined) void permitted.then((late) => late?.release(outcome)).catch(() => undefined);
    else permit.release(outcome);
  }
}

async function send({ client, firstByteMs, schedule }: Settings, params: JsonObject, signal: AbortSignal) {
  // The cast: `toParams` builds a valid body; models newer than the SDK accept values that its types do not have.
  const body = params as unknown as Anthropic.MessageCreateParamsStreaming;
  const headers = params['speed'] === 'fast' ? { 'anthropic-beta': FAST_MODE } : {};
  const response = client.messages.create(body, { signal, headers }).asResponse();
  return await withTimeout(response, firstByteMs, schedule, () => {
    return new StreamError(connectionLost(`the endpoint did not begin to answer within ${firstByteMs} ms`));
  });
}

const FAST_MODE = 'fast-mode-2026-02-01';

function isStop(event: Json): boolean {
  return typeof event === 'object' && event !== null && 'type' in event && event['type'] === 'message_stop';
}

function toOutcome({ reason, retryAfterMs }: ReturnType<typeof classifyError>): PermitOutcome {
  const isPushedBack = reason === 'rate_limited' || reason === 'overloaded';
  return isPushedBack ? { type: 'pushed_back', retryAfterMs } : { type: 'other' };
}
