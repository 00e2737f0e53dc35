import { traitsOf } from './catalog/model-traits.ts';
import { prices } from './catalog/prices.ts';

/** A model that the server lists. */
export interface KnownModel {
  readonly id: string;
  readonly contextTokens: number;
}

/** The models of Anthropic's own endpoint that we know. What another endpoint has, only that one knows. */
export function knownModels(): readonly KnownModel[] {
  return Object.keys(prices).map((id) => ({ id, contextTokens: traitsOf(id).contextTokens }));
}
