import type { Clock } from '../../../base/clock.ts';
import type { Schedule } from '../../../base/schedule.ts';
import type { Governor } from './governor.ts';

/** Exactly one of key and token. */
export type Credential = { readonly apiKey: string } | { readonly authToken: string };

/** Options of an engine for the Messages API. */
export interface MessagesEngineOptions {
  credential: Credential;
  /** The URL of an endpoint with the Messages API; Anthropic's by default. */
  baseURL?: string | undefined;
  /** Replaces the `fetch` of the platform. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Shared by all engines that talk to the same endpoint; by default the engine has its own. */
  governor?: Governor | undefined;
  /** Tokens of a response; replaces the limit of each model. */
  maxTokens?: number | undefined;
  /** Whether requests use prompt caching. Some endpoints do not support it. */
  caching?: boolean | undefined;
  firstByteMs?: number | undefined;
  silenceMs?: number | undefined;
  clock?: Clock | undefined;
  schedule?: Schedule | undefined;
}
