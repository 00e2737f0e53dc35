import { traitsOf } from './catalog/model-traits.ts';
import { prices } from './catalog/prices.ts';

/** A model that the server lists. */
export interface KnownModel {
  readonly id: string;
  readonly contextTokens: number;
}

/** The known models of Anthropic's own endpoint. The models of other endpoints are unknown. */
export function knownModels(): readonly KnownModel[] {
  return Object.keys(prices).map((id) => ({ id, contextTokens: traitsOf(id).contextTokens }));
}
