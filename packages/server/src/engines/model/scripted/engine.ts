import type { Json } from '../../../base/json/json.ts';
import type { Engine, EngineFailure, ModelRequest } from '../engine.ts';
import { classifyEndpointError, connectionLost, unexpectedFailure } from '../failures.ts';
import { toParams } from '../messages/to-params.ts';
import { createClosing, runAnswer } from '../run-answer.ts';
import { ScriptedModelError } from './failure.ts';
import { createScriptedModel, type ScriptedModel, type ScriptedModelOptions } from './model.ts';

/** Options of the engine that runs the scripted model. */
export interface ScriptedEngineOptions extends ScriptedModelOptions {
  /** The model; by default the engine creates its own. */
  model?: ScriptedModel | undefined;
}

/**
 * The scripted model as an engine, without sockets: the same requests and responses as over HTTP.
 *
 * @example
 * const engine = createScriptedEngine();
 * for await (const event of engine.request(request, signal)) console.log(event.type);
 */
export function createScriptedEngine(options: ScriptedEngineOptions = {}): Engine {
  const { model = createScriptedModel(options) } = options;
  const closing = createClosing();
  return {
    request: (request, signal) => {
      const open = (life: AbortSignal) => readScript(model, request, life);
      const { model: asked, onUsage } = request;
      const source = { model: asked.id, open, classify: classifyScriptedError, onUsage };
      return runAnswer(source, [signal, closing.signal]);
    },
    close: async () => closing.close(),
  };
}

async function* readScript(model: ScriptedModel, request: ModelRequest, signal: AbortSignal): AsyncGenerator<Json> {
  const params = toParams(request, { caching: true });
  for await (const event of model.stream(params, { signal, agent: request.thread.agentName })) {
    // The cast: the events of the model are JSON; their types only lack the index signature.
    yield event as unknown as Json;
  }
}

function classifyScriptedError(error: unknown): EngineFailure {
  if (!(error instanceof ScriptedModelError)) return unexpectedFailure(error);
  const { failure } = error;
  if (failure.type === 'cut') return connectionLost(error.message);
  const { status, errorType, message, retryAfterS } = failure;
  const retryAfterMs = retryAfterS === undefined ? null : retryAfterS * 1_000;
  return classifyEndpointError({ status, errorType, message, retryAfterMs });
}
