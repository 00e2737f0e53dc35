import { z } from 'zod';
import { OPEN_ID } from '../../keys/credential.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import type { Dashboard } from './dashboard.ts';

const loginLink = z.strictObject({ type: z.literal('login_link'), path: z.string() }).meta({ id: 'LoginLink' });

/** `POST /v1/login_links`: a link that signs one browser in, once, with the rights of the caller's key. */
export function createLoginLinkRoute({ codes }: Pick<Dashboard, 'codes'>): AnyRoute {
  return defineRoute({
    name: 'login_links.create',
    summary: 'Create a link that signs one browser in to the dashboard, once, with the rights of the key',
    method: 'post',
    path: '/v1/login_links',
    accepts: ['api'],
    gives: loginLink,
    handle: async ({ credential: { id: keyId, workspaceId } }) => {
      // A server without keys needs no login.
      const path = keyId === OPEN_ID ? '/' : `/login?code=${await codes.make({ keyId, workspaceId })}`;
      return { type: 'login_link', path };
    },
  });
}
