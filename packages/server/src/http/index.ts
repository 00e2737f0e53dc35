/** The HTTP door: everything that the composition of a server needs. */
export type { Access } from './auth/authenticate.ts';
export { anyOf, type Credential, type CredentialKind, type Credentials, DEFAULT_WORKSPACE } from './auth/credential.ts';
export type { StoredKey } from './auth/key-file.ts';
export { type KeyStore, type KeyStoreOptions, type NewApiKey, openKeyStore } from './auth/key-store.ts';
export { createSessionTokens, type SessionTokens } from './auth/session-tokens.ts';
export { openSigningKey } from './auth/signing-key.ts';
export { createDoor, type Door, type DoorOptions } from './door.ts';
export type { RateLimit } from './rate-limit.ts';
export type { DoorLog, RequestLogEntry } from './request-log.ts';
export type { AnyRoute } from './route.ts';
export { createAgentRoutes } from './routes/agents.ts';
export { createEnvironmentRoutes } from './routes/environments.ts';
