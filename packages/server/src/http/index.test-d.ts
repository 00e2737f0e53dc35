import { expectTypeOf } from 'vitest';
import { createAgents } from '../agents/agents.ts';
import { z } from 'zod';
import {
  type Access,
  type AnyRoute,
  anyOf,
  type Credential,
  type CredentialKind,
  type Credentials,
  createAgentRoutes,
  createDoor,
  createEnvironmentRoutes,
  createSessionTokens,
  DEFAULT_WORKSPACE,
  type Door,
  type DoorLog,
  type DoorOptions,
  type KeyStore,
  type KeyStoreOptions,
  type NewApiKey,
  openKeyStore,
  openSigningKey,
  type RateLimit,
  type RequestLogEntry,
  type SessionTokens,
  type StoredKey,
} from './index.ts';
import { defineRoute, type ParamsOf } from './route.ts';

expectTypeOf(createDoor).toEqualTypeOf<(options: DoorOptions) => Promise<Door>>();
expectTypeOf<Door['close']>().returns.resolves.toEqualTypeOf<void>();
expectTypeOf<DoorOptions['access']>().toEqualTypeOf<Access>();
expectTypeOf<DoorOptions['rateLimit']>().toEqualTypeOf<RateLimit | undefined>();
expectTypeOf<DoorOptions['log']>().toEqualTypeOf<DoorLog | undefined>();
expectTypeOf<DoorLog['onRequest']>().toEqualTypeOf<((entry: RequestLogEntry) => void) | undefined>();
// Nothing that could be a secret has a place in the log.
expectTypeOf<keyof RequestLogEntry & ('headers' | 'query' | 'body' | 'url' | 'key')>().toEqualTypeOf<never>();

// --- who asks ---

expectTypeOf<CredentialKind>().toEqualTypeOf<'api' | 'environment' | 'session'>();
expectTypeOf<Access>().toEqualTypeOf<Credentials | 'open'>();
expectTypeOf(anyOf).toEqualTypeOf<(...sources: readonly Credentials[]) => Credentials>();
expectTypeOf<KeyStore>().toExtend<Credentials>();
expectTypeOf<SessionTokens>().toExtend<Credentials>();
expectTypeOf(openKeyStore).parameter(0).toEqualTypeOf<KeyStoreOptions>();
expectTypeOf(openSigningKey).returns.resolves.toEqualTypeOf<Uint8Array>();
expectTypeOf(createSessionTokens).returns.toEqualTypeOf<SessionTokens>();
expectTypeOf<KeyStore['create']>().parameter(0).toEqualTypeOf<NewApiKey>();
expectTypeOf<StoredKey['kind']>().toEqualTypeOf<'api' | 'environment'>();
expectTypeOf(DEFAULT_WORKSPACE).toBeString();
// @ts-expect-error: an environment key is for an environment
export const incomplete: Credential = { kind: 'environment', id: 'key_1', workspaceId: 'wrkspc_1' };
// @ts-expect-error: what is kept has no secret
export type Secret = StoredKey['secret'];

// --- routes ---

expectTypeOf(createAgentRoutes).parameter(0).toEqualTypeOf<ReturnType<typeof createAgents>>();
expectTypeOf(createEnvironmentRoutes).returns.toEqualTypeOf<readonly AnyRoute[]>();
expectTypeOf<ParamsOf<'/v1/sessions/{session_id}/threads/{thread_id}'>>().toEqualTypeOf<'session_id' | 'thread_id'>();
defineRoute({
  name: 'things.update',
  summary: 'A route knows what it was given',
  method: 'post',
  path: '/v1/things/{thing_id}',
  accepts: ['api'],
  query: z.strictObject({ limit: z.int().default(5) }),
  body: z.strictObject({ name: z.string().exactOptional() }),
  gives: z.looseObject({}),
  handle: async ({ params, query, body }) => {
    expectTypeOf(params).toEqualTypeOf<Readonly<Record<'thing_id', string>>>();
    expectTypeOf(query).toEqualTypeOf<{ limit: number }>();
    expectTypeOf(body).toEqualTypeOf<{ name?: string }>();
    // @ts-expect-error: there is no such parameter
    return { id: params.id };
  },
});
