import { z } from 'zod';

/** A key as it is kept: everything but the secret. */
export type StoredKey =
  | {
      readonly kind: 'api';
      readonly id: string;
      readonly name: string;
      readonly workspaceId: string;
      readonly sha256: string;
      readonly createdAt: number;
    }
  | {
      readonly kind: 'environment';
      readonly id: string;
      readonly name: string;
      readonly workspaceId: string;
      readonly environmentId: string;
      readonly sha256: string;
      readonly createdAt: number;
    };

export function toKeyFile(key: StoredKey): string {
  return `${JSON.stringify({ version: 1, ...key }, null, 2)}\n`;
}

/** Throws if the text is not a key. */
export function parseKeyFile(text: string): StoredKey {
  const { version: _, ...key } = keyFile.parse(JSON.parse(text));
  return key;
}

const common = {
  version: z.literal(1),
  id: z.string().min(1),
  name: z.string(),
  workspaceId: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.number(),
};

const keyFile = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('api'), ...common }),
  z.object({ kind: z.literal('environment'), ...common, environmentId: z.string().min(1) }),
]);
