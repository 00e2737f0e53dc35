import { toModelName } from './model-name.ts';

/** Limits and abilities of a model. */
export interface ModelTraits {
  /** Tokens of the context window: input and output together. */
  readonly contextTokens: number;
  /** The default limit of tokens of a response, thinking included. */
  readonly maxTokens: number;
  /** Whether the model decides on its own how much to think. */
  readonly isAdaptive: boolean;
  /** The effort levels that the model accepts. */
  readonly efforts: readonly string[];
}

/** The traits of a model. An unknown model has only features that all models have. */
export function traitsOf(modelId: string): ModelTraits {
  const name = toModelName(modelId);
  if (Object.hasOwn(traits, name) && traits[name] !== undefined) return traits[name];
  // Every current Claude model allows at least this much, and newer ones will not allow less.
  return name.startsWith('claude-') ? { ...unknown, maxTokens: 32_000 } : unknown;
}

const unknown: ModelTraits = { contextTokens: 200_000, maxTokens: 8_192, isAdaptive: false, efforts: [] };

const upToHigh = ['low', 'medium', 'high'];
const latest: ModelTraits = {
  contextTokens: 1_000_000,
  maxTokens: 64_000,
  isAdaptive: true,
  efforts: [...upToHigh, 'xhigh', 'max'],
};
const four6: ModelTraits = { ...latest, efforts: [...upToHigh, 'max'] };
const four5: ModelTraits = { contextTokens: 200_000, maxTokens: 32_000, isAdaptive: false, efforts: [] };

/** The traits by model name, from https://platform.claude.com/docs/en/models, read in October 2026. */
const traits: Readonly<Record<string, ModelTraits>> = {
  'claude-fable-5-1': latest,
  'claude-mythos-5-1': latest,
  'claude-fable-5': latest,
  'claude-mythos-5': latest,
  'claude-opus-5-5': latest,
  'claude-opus-5': latest,
  'claude-opus-4-8': latest,
  'claude-opus-4-7': latest,
  'claude-opus-4-6': four6,
  'claude-opus-4-5': { ...four5, efforts: upToHigh },
  'claude-sonnet-5-5': latest,
  'claude-sonnet-5': latest,
  'claude-sonnet-4-6': { ...four6, maxTokens: 32_000 },
  'claude-sonnet-4-5': four5,
  'claude-haiku-5-5': latest,
  'claude-haiku-4-5': four5,
};
