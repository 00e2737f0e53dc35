import type { Lifetime } from '../base/lifetime.ts';
import { chooseEngine } from '../engines/model/choose-engine.ts';
import { contextWindowOf } from '../engines/model/context-window.ts';
import { costOf } from '../engines/model/cost-of.ts';
import type { Engine } from '../engines/model/engine.ts';
import { knownModels } from '../engines/model/known-models.ts';
import { createGovernor, type Governor } from '../engines/model/messages/governor.ts';
import { createMessagesEngine } from '../engines/model/messages/messages-engine.ts';
import { createScriptedEngine } from '../engines/model/scripted/engine.ts';
import { createScriptedModel, type ScriptedModel } from '../engines/model/scripted/model.ts';
import { isProgramModel } from '../engines/program/registry.ts';
import type { ModelFacts } from '../sessions/index.ts';
import type { ServerOptions } from './server-options.ts';

/** The engines that answer model requests. */
export interface OpenedModels {
  readonly engine: Engine;
  readonly scripted: ScriptedModel;
  /** Limits the requests to the endpoint; undefined without an endpoint. */
  readonly governor: Governor | undefined;
  /** The host of the endpoint; null without one. */
  readonly endpoint: string | null;
  /** The models that `/v1/models` lists; empty for a custom endpoint, whose models are unknown. */
  readonly known: ReturnType<typeof knownModels>;
}

/** Opens the scripted engine and, with a credential, the engine of the Messages API. */
export function openModels({ models, engine, scriptsDirectory }: ServerOptions, lifetime: Lifetime): OpenedModels {
  const scripted = createScriptedModel({ scriptsDirectory });
  const governor = models === undefined ? undefined : createGovernor();
  const builtin = () =>
    chooseEngine({
      scripted: createScriptedEngine({ model: scripted }),
      messages: models === undefined ? undefined : createMessagesEngine({ ...models, governor }),
      isProgramModel,
    });
  return {
    engine: lifetime.add(engine ?? builtin(), (opened) => opened.close()),
    scripted,
    governor,
    endpoint: models === undefined ? null : toHost(models.baseURL ?? 'https://api.anthropic.com'),
    known: models !== undefined && models.baseURL === undefined ? knownModels() : [],
  };
}

/** Price and context window of models, as sessions use them. */
export const modelFacts: ModelFacts = {
  costNanoUsd: (model, usage, speed) => {
    const cost = costOf(model, usage, speed);
    return cost === null ? null : Math.round(cost * NANO_PER_USD);
  },
  windowTokens: (model) => contextWindowOf(model),
};

const NANO_PER_USD = 1_000_000_000;

/** The host of a URL, without path and query, which may be secret. */
function toHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an invalid URL';
}
