import { isAbsolute, normalize } from 'node:path';
import { z } from 'zod';
import { requestError } from '../../../base/request-error.ts';
import type { Clock } from '../../../base/clock.ts';
import { type Credential, hasScope } from '../../../keys/credential.ts';
import type { StoredKey } from '../../../keys/key-file.ts';
import type { CreatedKey, KeyStore } from '../../../keys/key-store.ts';
import { keyLimits } from '../../../keys/limits.ts';
import { SCOPES, type Scope } from '../../../keys/scopes.ts';
import { type AnyRoute, defineRoute } from '../../routing/route.ts';
import { moment, name } from '../../schemas/common.ts';
import { checkUnlimited } from './key-limits.ts';

const limit = z.string().min(1).max(keyLimits.keyLimitCharsMax);
const values = <Value extends z.ZodType<string>>(value: Value) => z.array(value).min(1).max(keyLimits.keyValuesMax);
const engine = z
  .string()
  .regex(/^(?:model|scripted|claude-code|codex|opencode|acp|acp:[A-Za-z0-9][\w.-]{0,62})$/, 'is not an engine');

const keyWithSecret = z
  .strictObject({ type: z.literal('key_secret'), id: z.string(), name: z.string(), secret: z.string() })
  .meta({ id: 'KeySecret' });

/** The store of keys, and the clock. */
export interface KeyRoutesOptions {
  /** The API keys; undefined if the server needs no key. */
  readonly keys: KeyStore | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * `/v1/fleet/keys`: API keys of the workspace, for an admin. A new key never has more rights than its creator, and is not valid for
 * longer than the key of its creator.
 */
export function createKeyRoutes({ keys, clock }: KeyRoutesOptions): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'fleet.keys.create',
      summary: 'Create an API key of the workspace; only this response contains its secret',
      method: 'post',
      path: '/v1/fleet/keys',
      accepts: ['api'],
      body: z.strictObject({
        name: name.regex(/\S/, 'is empty'),
        scopes: values(z.enum(SCOPES)).exactOptional(),
        directories: values(limit.refine(isAbsolute, 'is not an absolute path')).exactOptional(),
        engines: values(engine).exactOptional(),
        expires_at: moment.exactOptional(),
      }),
      gives: keyWithSecret,
      handle: async ({ credential, body, audit }) => {
        const { scopes, directories, engines, expires_at: expires } = body;
        const expiresAt = expires === undefined ? undefined : toExpiry(expires, clock.now());
        const given = {
          scopes: scopes && SCOPES.filter((scope) => scopes.includes(scope)),
          directories: directories?.map((path) => normalize(path)),
          engines,
          expiresAt,
        };
        checkUnlimited(credential, 'the management of keys', 'use one without directories and engines');
        checkScopes(credential, given.scopes ?? SCOPES);
        await checkEnd(credential, expiresAt);
        const fields = { kind: 'api', name: body.name, workspaceId: credential.workspaceId, ...given } as const;
        return toAnswer(await opened(keys).create(fields, audit));
      },
    }),
    defineRoute({
      name: 'fleet.keys.rotate',
      summary: 'Give an API key of the workspace another secret; the old one works for a time',
      method: 'post',
      path: '/v1/fleet/keys/{key_id}/rotate',
      accepts: ['api'],
      body: z.strictObject({ overlap_ms: z.int().min(0).max(keyLimits.keyOverlapMsMax).exactOptional() }),
      gives: keyWithSecret,
      handle: async ({ credential, params: { key_id: id }, body: { overlap_ms: overlapMs }, audit }) => {
        const key = await find(credential, id);
        if (key.kind !== 'api') throw unknown(id);
        checkUnlimited(credential, 'the management of keys', 'use one without directories and engines');
        checkScopes(credential, key.scopes ?? SCOPES);
        await checkEnd(credential, key.expiresAt);
        const rotated = await opened(keys).rotate(id, overlapMs === undefined ? {} : { overlapMs }, audit);
        if (rotated === undefined) throw unknown(id);
        return toAnswer(rotated);
      },
    }),
    defineRoute({
      name: 'fleet.keys.revoke',
      summary: 'Revoke a key of the workspace; its requests are refused and its streams end within a second',
      method: 'delete',
      path: '/v1/fleet/keys/{key_id}',
      accepts: ['api'],
      gives: z.strictObject({ type: z.literal('key_revoked'), id: z.string() }),
      handle: async ({ credential, params: { key_id: id }, audit }) => {
        await find(credential, id);
        if (!(await opened(keys).revoke(id, audit))) throw unknown(id);
        return { type: 'key_revoked', id };
      },
    }),
  ];

  async function find({ workspaceId }: Credential, id: string): Promise<StoredKey> {
    const found = (await opened(keys).list()).find((key) => key.id === id && key.workspaceId === workspaceId);
    if (found === undefined) throw unknown(id);
    return found;
  }

  /** Rejects a key that would expire later than the key of its creator. */
  async function checkEnd({ id }: Credential, expiresAt: number | undefined): Promise<void> {
    const own = await opened(keys).findById(id);
    const end = own?.kind === 'api' ? own.expiresAt : undefined;
    if (end === undefined || (expiresAt !== undefined && expiresAt <= end)) return;
    const advice = `let it expire by ${new Date(end).toISOString()}, when the key of the caller does`;
    throw requestError('invalid_request', 'expires_at: is after the key of the caller', { advice });
  }
}

function toExpiry(text: string, now: number): number {
  const at = Date.parse(text);
  if (at > now) return at;
  throw requestError('invalid_request', `expires_at: ${text} is in the past`, { advice: 'send a time in the future' });
}

/** Rejects scopes that the caller does not have. */
function checkScopes(credential: Credential, scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !hasScope(credential, scope));
  if (missing.length === 0) return;
  const problem = `scopes: the key would have the scope ${missing[0]}, which the caller does not have`;
  throw requestError('scope_missing', problem, { details: { scopes: missing } });
}

function toAnswer({ secret, key: { id, name: called } }: CreatedKey) {
  return { type: 'key_secret', id, name: called, secret };
}

function unknown(id: string): Error {
  return requestError('unknown_id', `${id} is not a key of this workspace`);
}

function opened(keys: KeyStore | undefined): KeyStore {
  if (keys !== undefined) return keys;
  throw requestError('invalid_request', 'this server has no keys', { advice: 'start it without --open' });
}
