import { z } from 'zod';
import { requestError } from '../../base/request-error.ts';
import { type Credential, hasScope, OPEN_ID } from '../../keys/credential.ts';
import { ROLE_NAMES, ROLES, type Role } from '../../keys/scopes.ts';
import { httpLimits } from '../limits.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import type { Dashboard } from './dashboard.ts';
import type { Visitor } from './login-codes.ts';

const loginLink = z.strictObject({ type: z.literal('login_link'), path: z.string() }).meta({ id: 'LoginLink' });

/** `POST /v1/login_links`: a link that signs one browser in, once, with the rights of the caller or fewer. */
export function createLoginLinkRoute({ codes, auditLog }: Pick<Dashboard, 'codes' | 'auditLog'>): AnyRoute {
  return defineRoute({
    name: 'login_links.create',
    summary:
      'Create a link that signs one browser in to the dashboard, once, with the rights of the caller or of a role',
    method: 'post',
    path: '/v1/login_links',
    accepts: ['api'],
    body: z.strictObject({ role: z.enum(ROLE_NAMES).exactOptional() }),
    gives: loginLink,
    handle: async ({ credential, body: { role }, audit }) => {
      const visitor = toVisitor(credential, role);
      // A server without keys needs no login.
      if (credential.id === OPEN_ID) return { type: 'login_link', path: '/' };
      await auditLog.append([audit('login_link.created', null, { role: visitor.role ?? null })]);
      const path = `/login?code=${await codes.make(visitor)}`;
      return { type: 'login_link', path };
    },
  });
}

/** The rights of the link: never more than the rights of the caller. A link that is made in a login ends with that login. */
function toVisitor(credential: Credential, role: Role | undefined): Visitor {
  const own = credential.kind === 'api' ? credential : undefined;
  const madeWith = own?.login && [...(own.login.madeWith ?? []), own.login.id];
  if (madeWith !== undefined && madeWith.length > httpLimits.loginDepthMax) {
    const problem = `this browser was signed in with the last of ${httpLimits.loginDepthMax} links in a row`;
    throw requestError('invalid_request', problem, {
      advice: 'create the link with a key, or in a browser that used none',
    });
  }
  const { id: keyId, workspaceId } = credential;
  const visitor = { keyId, workspaceId, madeWith, person: own?.person };
  if (role === undefined) return { ...visitor, role: own?.login?.role, scopes: own?.scopes };
  const scopes = ROLES[role];
  const missing = scopes.filter((scope) => !hasScope(credential, scope));
  if (missing.length === 0) return { ...visitor, role, scopes };
  const problem = `role: ${role} has the scope ${missing[0]}, which the caller does not have`;
  throw requestError('scope_missing', problem, { details: { scopes: missing } });
}
