import type { Engine, EngineEvent, EngineFailure } from './engine.ts';

export interface EngineChoice {
  /** For models whose name begins with `scripted/`. */
  scripted: Engine;
  /** For all others, if somebody set a key. */
  messages: Engine | undefined;
}

/**
 * One engine for all models: the name of the model says which one answers.
 *
 * @example
 * const engine = chooseEngine({ scripted: createScriptedEngine(), messages: undefined });
 */
export function chooseEngine({ scripted, messages }: EngineChoice): Engine {
  return {
    request: (request, signal) => {
      const { id } = request.model;
      if (id.startsWith(SCRIPTED)) return scripted.request(request, signal);
      if (id.startsWith(CLAUDE_CODE)) return refuse(wholeSession(id));
      return messages === undefined ? refuse(noKey(id)) : messages.request(request, signal);
    },
    close: async () => {
      await Promise.all([scripted.close(), messages?.close()]);
    },
  };
}

const SCRIPTED = 'scripted/';
const CLAUDE_CODE = 'claude-code/';

async function* refuse(failure: EngineFailure): AsyncGenerator<EngineEvent, void> {
  yield { type: 'failed', failure, usage: null };
}

function wholeSession(id: string): EngineFailure {
  const message = `${id} runs whole sessions: give this model to the session's own agent, and another one to this one`;
  return { reason: 'request_failed', message, consequence: 'turn', retryAfterMs: null };
}

function noKey(id: string): EngineFailure {
  const message = `${id} needs a key and none is set: set ANTHROPIC_API_KEY, or use a model like scripted/echo`;
  return { reason: 'authentication', message, consequence: 'turn', retryAfterMs: null };
}
