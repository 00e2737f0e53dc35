/** What an API key may be used for. Scopes are independent: none includes another. */
export const SCOPES = ['read', 'run', 'approve', 'manage', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Named sets of scopes, for people who sign in to the dashboard. */
export const ROLES = {
  viewer: ['read'],
  approver: ['read', 'approve'],
  operator: ['read', 'run', 'approve', 'manage'],
  admin: SCOPES,
} as const satisfies Readonly<Record<string, readonly Scope[]>>;
export type Role = keyof typeof ROLES;

/** The names of all roles, from the fewest rights to the most. */
export const ROLE_NAMES = ['viewer', 'approver', 'operator', 'admin'] as const satisfies readonly Role[];

/** The limits of a key beside its scopes. Absent fields do not limit it. */
export interface KeyLimits {
  /** The directories, with everything below them, that `directory` resources may name. */
  readonly directories?: readonly string[] | undefined;
  /** The engines that agents of its sessions may have, as {@link toEngine} names them. */
  readonly engines?: readonly string[] | undefined;
}

/** The scopes that both have, in their usual order. */
export function sharedScopes(one: readonly Scope[], other: readonly Scope[]): readonly Scope[] {
  return SCOPES.filter((scope) => one.includes(scope) && other.includes(scope));
}

/** The name of an engine as keys have it: `codex`, `acp:opencode`, `scripted`, and `model` for models of an endpoint. */
export const MODEL_ENGINE = 'model';
