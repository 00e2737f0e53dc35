import type { Effort, EffortLevel, ModelConfig, ModelConfigParams } from '@fleetloom/protocol/managed-agents';
import { agentError } from './agent-errors.ts';

/**
 * The model with its defaults. On an update `before` is what it was: the same model keeps its effort if none is said.
 * Everything else that is not said is the default again.
 */
export function toModel(params: string | ModelConfigParams | null, before?: ModelConfig): ModelConfig {
  const { id, effort, speed, inference_geo: geo } = readParams(params);
  const kept = effort === undefined && before?.id === id ? before.effort : undefined;
  return {
    id,
    effort: kept ?? toEffort(effort ?? DEFAULT_EFFORT),
    speed: speed ?? 'standard',
    ...(typeof geo === 'string' ? { inference_geo: geo } : {}),
  };
}

/** The effort that the Messages API uses by default, for every model. */
const DEFAULT_EFFORT = 'high';

function readParams(params: string | ModelConfigParams | null): ModelConfigParams {
  // The types of a session's overrides have no null, but its refusal is documented.
  const config = typeof params === 'string' ? { id: params } : params;
  if (config === null || config.id === '') throw agentError('invalid_model', 'an agent cannot be without a model');
  return config;
}

function toEffort(effort: EffortLevel | Effort): Effort {
  return typeof effort === 'string' ? { type: effort } : effort;
}
