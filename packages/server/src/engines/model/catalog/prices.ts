/** When these prices were read from https://platform.claude.com/docs/en/about-claude/pricing and the models' pages. */
export const PRICES_READ = '2026-10';

/** US dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  /** The factor for all prices in fast mode. Absent if the model has no fast mode, or its price is unknown. */
  readonly fastTimes?: number;
  /** The factor for all prices if the input of a request is longer than this. */
  readonly long?: { readonly inputTokensAbove: number; readonly times: number };
}

/**
 * Models whose price is certain. The cost of any other model is `null` and not 0: a wrong sum would look as plausible
 * as a correct one.
 */
export const prices: Readonly<Record<string, Price>> = {
  'claude-fable-5-1': price(10, 50, 0.25),
  'claude-mythos-5-1': price(10, 50, 0.25),
  'claude-fable-5': price(10, 50),
  'claude-mythos-5': price(10, 50),
  'claude-opus-5-5': { ...price(4, 20, 0.2), fastTimes: 2 },
  'claude-opus-5': { ...price(5, 25), fastTimes: 2 },
  'claude-opus-4-8': { ...price(5, 25), fastTimes: 2 },
  'claude-opus-4-7': price(5, 25),
  'claude-opus-4-6': price(5, 25),
  'claude-opus-4-5': price(5, 25),
  'claude-opus-4-1': price(15, 75),
  'claude-opus-4': price(15, 75),
  'claude-sonnet-5-5': price(2, 10),
  'claude-sonnet-5': price(2, 10),
  'claude-sonnet-4-6': price(3, 15),
  'claude-sonnet-4-5': price(3, 15),
  'claude-sonnet-4': price(3, 15),
  'claude-haiku-5-5': { ...price(0.1, 0.5), long: { inputTokensAbove: 100_000, times: 5 } },
  'claude-haiku-4-5': price(1, 5),
};

/** The example price of the scripted models of the demo. */
export const examplePrice: Price = price(3, 15);

/** The prices of a model. Cache writes cost 1.25 and 2 times the input for all models, cache reads a tenth for most. */
function price(input: number, output: number, cacheRead = input / 10): Price {
  return { input, output, cacheRead, cacheWrite5m: input * 1.25, cacheWrite1h: input * 2 };
}
