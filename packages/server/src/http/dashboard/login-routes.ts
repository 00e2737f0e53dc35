import { z } from 'zod';
import { requestError } from '../../base/request-error.ts';
import { ROLE_NAMES, SCOPES } from '../../keys/scopes.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import type { Dashboard } from './dashboard.ts';
import type { StoredLogin } from './logins.ts';
import { personSchema, toFleetPerson } from './person-schema.ts';

const time = z.iso.datetime();
const login = z
  .strictObject({
    type: z.literal('login'),
    id: z.string(),
    key_id: z.string().nullable(),
    role: z.enum(ROLE_NAMES).nullable(),
    scopes: z.array(z.enum(SCOPES)).nullable(),
    address: z.string().nullable(),
    user_agent: z.string().nullable(),
    created_at: time,
    expires_at: time,
    is_current: z.boolean(),
    person: personSchema.nullable(),
    made_with: z.string().nullable(),
  })
  .meta({ id: 'Login' });

/** `/v1/fleet/logins`: the browsers that are signed in to the workspace. */
export function createLoginRoutes({ logins }: Pick<Dashboard, 'logins'>): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'fleet.logins.list',
      summary: 'List the browsers that are signed in to the workspace, the newest first',
      method: 'get',
      path: '/v1/fleet/logins',
      accepts: ['api'],
      gives: z.strictObject({ data: z.array(login) }),
      handle: async ({ credential }) => {
        const current = credential.kind === 'api' ? credential.login?.id : undefined;
        return { data: (await logins.list(credential.workspaceId)).map((each) => toWire(each, current)) };
      },
    }),
    defineRoute({
      name: 'fleet.logins.revoke',
      summary: 'Sign a browser out; its open streams end within a second',
      method: 'delete',
      path: '/v1/fleet/logins/{login_id}',
      accepts: ['api'],
      gives: z.strictObject({ type: z.literal('login_revoked'), id: z.string() }),
      handle: async ({ credential: { workspaceId }, params: { login_id: id }, audit }) => {
        const found = await logins.find(id);
        if (found?.workspaceId !== workspaceId) throw requestError('unknown_id', `${id} is not a login`);
        await logins.end(id, audit('login.revoked', id));
        return { type: 'login_revoked', id };
      },
    }),
  ];
}

function toWire(each: StoredLogin, current: string | undefined) {
  return {
    type: 'login',
    id: each.id,
    key_id: each.person === undefined ? (each.keyId ?? null) : null,
    role: each.role ?? null,
    scopes: each.scopes ?? null,
    address: each.address ?? null,
    user_agent: each.userAgent ?? null,
    created_at: new Date(each.createdAt).toISOString(),
    expires_at: new Date(each.expiresAt).toISOString(),
    is_current: each.id === current,
    person: each.person === undefined ? null : toFleetPerson(each.person),
    made_with: each.madeWith?.at(-1) ?? null,
  };
}
