import type { IdPageParams } from './page.ts';

/** How hard a model works on each request. */
export const effortLevels = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
/** An effort level. */
export type EffortLevel = (typeof effortLevels)[number];

/** An effort, with one variant for each level, as on the wire. */
export type Effort = { readonly [Level in EffortLevel]: { readonly type: Level } }[EffortLevel];

/** The speed of a model. */
export type Speed = 'standard' | 'fast';

/** The model of an agent in responses: with every default filled in. */
export interface ModelConfig {
  /** Any string. Its prefix selects the engine, e.g. `scripted/` or `claude-code/`. */
  readonly id: string;
  readonly effort: Effort;
  readonly speed: Speed;
  readonly inference_geo?: string;
}

/** The model of an agent as a client sends it, if it sends more than the id. */
export interface ModelConfigParams {
  readonly id: string;
  readonly effort?: EffortLevel | Effort | null;
  readonly speed?: Speed | null;
  readonly inference_geo?: string | null;
}

/** A model as `GET /v1/models` lists it. Unknown fields are null. */
export interface ModelInfo {
  readonly type: 'model';
  readonly id: string;
  readonly display_name: string;
  readonly created_at: string;
  readonly lifecycle: 'active' | 'deprecated' | 'retired';
  readonly deprecated_at: string | null;
  readonly retires_at: string | null;
  readonly line: 'haiku' | 'sonnet' | 'opus' | 'fable' | 'mythos' | null;
  readonly max_input_tokens: number | null;
  readonly max_tokens: number | null;
  readonly allowed_fallback_models: readonly string[] | null;
  /** Capabilities are not listed. */
  readonly capabilities: null;
}

/** `GET /v1/models` */
export interface ModelListParams extends IdPageParams {
  readonly lifecycle?: readonly ModelInfo['lifecycle'][];
}
