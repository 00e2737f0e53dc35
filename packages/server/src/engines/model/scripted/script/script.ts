import type { JsonObject } from '../json.ts';
import type { StopReason } from '../wire.ts';

/** A script that was checked. `digest` names its content: equal scripts have equal digests, whatever their spelling. */
export type Script = (
  | { readonly type: 'turns'; readonly turns: readonly Turn[] }
  | { readonly type: 'when'; readonly cases: readonly Case[]; readonly otherwise: Turn | undefined }
) & { readonly usage: ClaimedUsage; readonly digest: string };

/** The steps of the response to one request. */
export type Turn = readonly Step[];

/** A turn that plays if the regular expression `match` matches the newest user content. */
export interface Case {
  readonly match: string;
  readonly turn: Turn;
}

/** A step of a scripted turn. */
export type Step =
  | {
      readonly type: 'think' | 'say';
      readonly text: string;
      readonly chunks: number | undefined;
      readonly everyMs: number;
    }
  | { readonly type: 'call'; readonly name: string; readonly input: JsonObject }
  | { readonly type: 'sleep'; readonly ms: number }
  | FailStep
  /** Cuts the response; without `times`, on every attempt. */
  | { readonly type: 'cut'; readonly times: number | undefined }
  | { readonly type: 'stop'; readonly reason: StopReason }
  | ExpectStep;

/** Fails the first attempts of a request. */
export interface FailStep {
  readonly type: 'fail';
  readonly status: number;
  readonly errorType: string;
  readonly message: string;
  readonly times: number;
  readonly retryAfterS: number | undefined;
  /** Whether the failure comes after the earlier steps of the turn, instead of before the first event. */
  readonly inStream: boolean;
}

/** Rejects a request that does not contain what the script expects. */
export interface ExpectStep {
  readonly type: 'expect';
  readonly contains: readonly string[];
  readonly toolResult: readonly string[];
  readonly isError: boolean | undefined;
  readonly tools: readonly string[];
}

/** Tokens that a script claims instead of those derived from the lengths of the texts. */
export interface ClaimedUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_creation_input_tokens?: number;
  readonly cache_read_input_tokens?: number;
}
