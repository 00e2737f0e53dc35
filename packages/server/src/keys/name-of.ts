import { type Credential, OPEN_ID } from './credential.ts';

/** The name of a caller, for the log. Without keys all callers have the same name. */
export function nameOf(credential: Credential): string {
  if (credential.kind !== 'api') return credential.kind;
  return credential.name ?? (credential.id === OPEN_ID ? 'client' : credential.id);
}
