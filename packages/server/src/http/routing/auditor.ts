import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import type { Credential } from '../../keys/credential.ts';
import { OPEN_ID } from '../../keys/credential.ts';
import type { Person } from '../../keys/person.ts';
import type { Auditor } from '../../store/audit.ts';
import type { Exchange } from './exchange.ts';

/** Creates audit log entries for one request: its caller, its address, and its id in the request log. */
export function createAuditor(exchange: Exchange, credential: Credential): Auditor {
  return createAuditorOf(exchange, credential.workspaceId, toBy(credential));
}

/** As `createAuditor`, for a caller without a credential: a rejected person, a provider, or an unknown client. */
export function createAuditorOf(
  { id: requestId, address }: AuditedExchange,
  workspaceId: string,
  by: AuditCaller,
): Auditor {
  return (action, target, details) => ({
    workspaceId,
    data: { action, by, address: address ?? null, request_id: requestId, target, details },
  });
}

type AuditedExchange = Pick<Exchange, 'id' | 'address'>;

/** A browser that signs in: with a key, or as a person. */
export function toVisitorBy({
  keyId,
  person,
}: {
  readonly keyId: string;
  readonly person?: Person | undefined;
}): AuditCaller {
  return person === undefined ? { type: 'key', key_id: keyId, key_name: null } : toPersonBy(person);
}

/** A person as entries name it. */
export function toPersonBy({ issuer, subject, email, name }: Person): AuditCaller {
  return { type: 'person', issuer, subject, email: email ?? null, name: name ?? null };
}

/** A caller as entries name it. */
export type AuditCaller = FleetAuditEntry['entry']['by'];

/** The caller as entries name it. Never its secret. */
function toBy(credential: Credential): AuditCaller {
  if (credential.kind !== 'api') return { type: 'worker', key_id: credential.id };
  const { id, name, login, person } = credential;
  if (id === OPEN_ID) return { type: 'open' };
  const session = login === undefined ? {} : { login_id: login.id, role: login.role ?? null };
  if (person !== undefined) return { ...toPersonBy(person), ...session };
  const key = { key_id: id, key_name: name ?? null };
  if (login === undefined) return { type: 'key', ...key };
  return { type: 'login', ...key, ...session };
}
