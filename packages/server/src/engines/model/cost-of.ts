import { hasExamplePrice } from '@fleetloom/protocol/fleet';
import type { ModelChoice, Usage } from './engine.ts';
import { toModelName } from './catalog/model-name.ts';
import { examplePrice, type Price, prices } from './catalog/prices.ts';

/**
 * The cost of a response in US dollars; `null` if the price is unknown, which is different from 0. Scripted models are
 * free of charge: 0; those of the demo have an example price.
 *
 * @example
 * costOf('claude-haiku-4-5', { ...noUsage, outputTokens: 1_000_000 }); // 5
 */
export function costOf(modelId: string, usage: Usage, speed: ModelChoice['speed'] = 'standard'): number | null {
  if (hasExamplePrice(modelId)) return sumOf(examplePrice, usage) / 1_000_000;
  if (modelId.startsWith('scripted/')) return 0;
  const name = toModelName(modelId);
  const price = Object.hasOwn(prices, name) ? prices[name] : undefined;
  const times = price === undefined ? null : timesOf(price, usage, speed);
  return price === undefined || times === null ? null : (times * sumOf(price, usage)) / 1_000_000;
}

function sumOf(price: Price, usage: Usage): number {
  return (
    usage.inputTokens * price.input +
    usage.outputTokens * price.output +
    usage.cacheReadTokens * price.cacheRead +
    usage.cacheWrite5mTokens * price.cacheWrite5m +
    usage.cacheWrite1hTokens * price.cacheWrite1h
  );
}

function timesOf({ long, fastTimes }: Price, usage: Usage, speed: ModelChoice['speed']): number | null {
  if (speed === 'fast' && fastTimes === undefined) return null;
  const fast = speed === 'fast' && fastTimes !== undefined ? fastTimes : 1;
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWrite5mTokens + usage.cacheWrite1hTokens;
  return long !== undefined && input > long.inputTokensAbove ? fast * long.times : fast;
}
