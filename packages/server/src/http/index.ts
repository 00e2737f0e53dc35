/** The HTTP server: everything that the composition of a server needs. */
export type { Access } from './auth/authenticate.ts';
export {
  anyOf,
  type Credential,
  type CredentialKind,
  type Credentials,
  DEFAULT_WORKSPACE,
} from '../keys/credential.ts';
export type { StoredKey } from '../keys/key-file.ts';
export { type KeyStore, type KeyStoreOptions, type NewApiKey, openKeyStore } from '../keys/key-store.ts';
export { createSessionTokens, type SessionTokens } from '../keys/session-tokens.ts';
export { openSigningKey } from '../keys/signing-key.ts';
export { createHttpServer, type HttpServer, type HttpServerOptions } from './server/http-server.ts';
export type { RateLimit } from './auth/rate-limit.ts';
export type { RequestLog, RequestLogEntry } from '../base/request-log.ts';
export type { AnyRoute } from './routing/route.ts';
export { createAgentRoutes } from './routes/agents.ts';
export { createEnvironmentRoutes } from './routes/environments.ts';
