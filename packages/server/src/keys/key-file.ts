import { z } from 'zod';
import { SCOPES, type Scope } from './scopes.ts';

/** A key as it is kept: everything but the secret. */
export type StoredKey = StoredApiKey | StoredEnvironmentKey;

/** Fields of every key. */
interface StoredFields {
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string;
  readonly sha256: string;
  readonly createdAt: number;
}

/** A key that opens a workspace. A field that is left out limits nothing. */
export interface StoredApiKey extends StoredFields {
  readonly kind: 'api';
  /** Left out: every scope. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly directories?: readonly string[] | undefined;
  readonly engines?: readonly string[] | undefined;
  /** The time from which the key is rejected. */
  readonly expiresAt?: number | undefined;
  /** How often its secret was replaced. Of several stored forms of a key the one with the most is valid. */
  readonly rotations?: number | undefined;
  readonly rotatedAt?: number | undefined;
  /** Secrets that it had before, each accepted until a time. */
  readonly previous?: readonly PreviousSecret[] | undefined;
}

/** A replaced secret during its overlap. */
export interface PreviousSecret {
  readonly sha256: string;
  readonly until: number;
}

/** A key for workers of one environment. */
export interface StoredEnvironmentKey extends StoredFields {
  readonly kind: 'environment';
  readonly environmentId: string;
}

/**
 * The text of a key. One that is limited, expires or was rotated has version 2: an older server, which knows nothing of that,
 * refuses the key instead of accepting it without its limits.
 */
export function toKeyFile(key: StoredKey): string {
  const known = new Set(['kind', ...Object.keys(common)]);
  const isPlain = key.kind === 'environment' || Object.keys(key).every((name) => known.has(name));
  return `${JSON.stringify({ version: isPlain ? 1 : 2, ...key }, null, 2)}\n`;
}

/** Throws if the text is not a key. */
export function parseKeyFile(text: string): StoredKey {
  const { version: _, ...key } = keyFile.parse(JSON.parse(text));
  return key;
}

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const common = {
  id: z.string().min(1),
  name: z.string(),
  workspaceId: z.string().min(1),
  sha256,
  createdAt: z.number(),
};

const keyFile = z.union([
  z.object({ version: z.literal(1), kind: z.literal('api'), ...common }),
  z.object({ version: z.literal(1), kind: z.literal('environment'), ...common, environmentId: z.string().min(1) }),
  // Strict: a limit that this version does not know must not be dropped.
  z.strictObject({
    version: z.literal(2),
    kind: z.literal('api'),
    ...common,
    scopes: z.array(z.enum(SCOPES)).exactOptional(),
    directories: z.array(z.string()).exactOptional(),
    engines: z.array(z.string()).exactOptional(),
    expiresAt: z.number().exactOptional(),
    rotations: z.int().exactOptional(),
    rotatedAt: z.number().exactOptional(),
    previous: z.array(z.strictObject({ sha256, until: z.number() })).exactOptional(),
  }),
]);
