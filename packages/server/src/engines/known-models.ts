import { traitsOf } from './models/model-traits.ts';
import { prices } from './models/prices.ts';

export interface KnownModel {
  readonly id: string;
  readonly contextTokens: number;
}

/** The models of Anthropic's own endpoint that we know. What another endpoint has, only that one knows. */
export function knownModels(): readonly KnownModel[] {
  return Object.keys(prices).map((id) => ({ id, contextTokens: traitsOf(id).contextTokens }));
}
