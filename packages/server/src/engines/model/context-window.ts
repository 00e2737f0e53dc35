import { traitsOf } from './catalog/model-traits.ts';

/**
 * The context window of a model in tokens. `overrides` take precedence: operators know their endpoints, and
 * tests need small windows. They name a model, or with a star at the end all models with that prefix.
 *
 * @example
 * contextWindowOf('scripted/echo', { 'scripted/*': 2_000 }); // 2000
 */
export function contextWindowOf(modelId: string, overrides: Readonly<Record<string, number>> = {}): number {
  const exact = Object.hasOwn(overrides, modelId) ? overrides[modelId] : undefined;
  return exact ?? findPattern(modelId, overrides) ?? traitsOf(modelId).contextTokens;
}

/** The longest matching pattern is the most specific. */
function findPattern(modelId: string, overrides: Readonly<Record<string, number>>): number | undefined {
  const patterns = Object.entries(overrides).filter(([pattern]) => {
    return pattern.endsWith('*') && modelId.startsWith(pattern.slice(0, -1));
  });
  return patterns.sort(([one], [other]) => other.length - one.length)[0]?.[1];
}
