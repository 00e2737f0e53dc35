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
  createHttpServer,
  createEnvironmentRoutes,
  createSessionTokens,
  DEFAULT_WORKSPACE,
  type HttpServer,
  type RequestLog,
  type HttpServerOptions,
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
import { defineRoute, type ParamsOf } from './routing/route.ts';

expectTypeOf(createHttpServer).toEqualTypeOf<(options: HttpServerOptions) => Promise<HttpServer>>();
expectTypeOf<HttpServer['close']>().returns.resolves.toEqualTypeOf<void>();
expectTypeOf<HttpServerOptions['access']>().toEqualTypeOf<Access>();
expectTypeOf<HttpServerOptions['rateLimit']>().toEqualTypeOf<RateLimit | undefined>();
expectTypeOf<HttpServerOptions['log']>().toEqualTypeOf<RequestLog | undefined>();
expectTypeOf<RequestLog['onRequest']>().toEqualTypeOf<((entry: RequestLogEntry) => void) | undefined>();
// The log has no field that could contain a secret.
expectTypeOf<keyof RequestLogEntry & ('headers' | 'query' | 'body' | 'url' | 'key')>().toEqualTypeOf<never>();

// --- credentials ---

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
// @ts-expect-error: a stored key has no secret
export type Secret = StoredKey['secret'];

// --- routes ---

expectTypeOf(createAgentRoutes).parameter(0).toEqualTypeOf<ReturnType<typeof createAgents>>();
expectTypeOf(createEnvironmentRoutes).returns.toEqualTypeOf<readonly AnyRoute[]>();
expectTypeOf<ParamsOf<'/v1/sessions/{session_id}/threads/{thread_id}'>>().toEqualTypeOf<'session_id' | 'thread_id'>();
defineRoute({
  name: 'things.update',
  summary: 'Infers the types of its input',
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
