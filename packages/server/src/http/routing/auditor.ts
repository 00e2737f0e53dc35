import type { Credential } from '../../keys/credential.ts';
import { OPEN_ID } from '../../keys/credential.ts';
import type { Auditor } from '../../store/audit.ts';
import type { Exchange } from './exchange.ts';

/** Makes entries of the audit log about one request: its caller, its address, and its id in the request log. */
export function createAuditor({ id: requestId, incoming }: Exchange, credential: Credential): Auditor {
  const { workspaceId } = credential;
  // Taken now: the address is gone when the client is.
  const address = incoming.socket.remoteAddress ?? null;
  return (action, target, details) => ({
    workspaceId,
    data: { action, by: toBy(credential), address, request_id: requestId, target, details },
  });
}

/** The caller as entries name it. Never its secret. */
function toBy(credential: Credential): object {
  if (credential.kind !== 'api') return { type: 'worker', key_id: credential.id };
  const { id, name, login } = credential;
  if (id === OPEN_ID) return { type: 'open' };
  const key = { key_id: id, key_name: name ?? null };
  if (login === undefined) return { type: 'key', ...key };
  return { type: 'login', ...key, login_id: login.id, role: login.role ?? null };
}
