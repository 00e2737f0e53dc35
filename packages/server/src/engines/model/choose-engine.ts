import type { Engine, EngineEvent, EngineFailure } from './engine.ts';

/** The engines of a server. */
export interface EngineChoice {
  /** Answers models whose name begins with `scripted/`. */
  scripted: Engine;
  /** Answers all other models; undefined if the operator has not set a key. */
  messages: Engine | undefined;
  /** Whether a model belongs to a program engine, which does not answer single requests. */
  isProgramModel: (model: string) => boolean;
}

/**
 * One engine for all models, which passes each request on to the engine of its model.
 *
 * @example
 * const engine = chooseEngine({ scripted: createScriptedEngine(), messages: undefined, isProgramModel });
 */
export function chooseEngine({ scripted, messages, isProgramModel }: EngineChoice): Engine {
  return {
    request: (request, signal) => {
      const { id } = request.model;
      if (id.startsWith(SCRIPTED)) return scripted.request(request, signal);
      if (isProgramModel(id)) return refuse(runByProgram(id));
      return messages === undefined ? refuse(noKey(id)) : messages.request(request, signal);
    },
    close: async () => {
      await Promise.all([scripted.close(), messages?.close()]);
    },
  };
}

const SCRIPTED = 'scripted/';

async function* refuse(failure: EngineFailure): AsyncGenerator<EngineEvent, void> {
  yield { type: 'failed', failure, usage: null };
}

function runByProgram(id: string): EngineFailure {
  const message = `The model ${id} is run by a program, which does not answer single requests. Use a model of an endpoint or a scripted one here.`;
  return { reason: 'request_failed', message, consequence: 'turn', retryAfterMs: null };
}

function noKey(id: string): EngineFailure {
  const message = `The model ${id} needs an API key, and none is set. Set ANTHROPIC_API_KEY, or use a model such as scripted/echo.`;
  return { reason: 'authentication', message, consequence: 'turn', retryAfterMs: null };
}
