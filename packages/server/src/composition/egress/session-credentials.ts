import { type EgressCredentials, toPlaceholder } from '../../egress/credentials.ts';
import { mayReceive } from '../../vaults/may-receive.ts';
import type { SessionVariables } from '../../vaults/session-variables.ts';

/** The variables of a session as the egress proxy uses them. */
export function createSessionCredentials(sessionId: string, variables: SessionVariables): EgressCredentials {
  return {
    findFor: async (host) => {
      const all = await variables.list();
      return all
        .filter(({ auth }) => mayReceive(auth.networking, host))
        .map((variable) => ({
          id: variable.id,
          placeholder: toPlaceholder(sessionId, variable.id),
          isInHeaders: variable.auth.injection_location.header,
          isInBodies: variable.auth.injection_location.body,
          readSecret: () => variable.readSecret(host),
        }));
    },
  };
}

/** The environment variables of programs of a session. */
export async function toEnvironment(sessionId: string, variables: SessionVariables): Promise<Record<string, string>> {
  const all = await variables.list();
  return Object.fromEntries(all.map(({ id, auth }) => [auth.secret_name, toPlaceholder(sessionId, id)]));
}
