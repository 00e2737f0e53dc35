import { z } from 'zod';
import type { PushDevice, PushDeviceList, PushKey } from '@fleetloom/protocol/fleet';
import { requestError } from '../../../base/request-error.ts';
import { callerOf, type Credential, hasScope } from '../../../keys/credential.ts';
import { nameOf } from '../../../keys/name-of.ts';
import type { Push } from '../../../push/push.ts';
import { unknownId } from '../../routing/checked-request.ts';
import { requireScopes } from '../../routing/route-scopes.ts';
import { type AnyRoute, defineRoute } from '../../routing/route.ts';
import { pushDevice, pushDeviceBody, pushDevices, pushKey } from '../../schemas/push.ts';

/** `/v1/fleet/push` and `/v1/fleet/push_subscriptions`: the devices that Web Push messages are sent to. */
export function createPushRoutes(push: Push): readonly AnyRoute[] {
  const path = '/v1/fleet/push_subscriptions' as const;
  return [
    defineRoute({
      name: 'push.key',
      summary: 'Get the public key that a browser subscribes to push messages with',
      method: 'get',
      path: '/v1/fleet/push',
      accepts: ['api'],
      gives: pushKey,
      handle: async (): Promise<PushKey> => ({ type: 'push_key', public_key: await push.publicKey() }),
    }),
    defineRoute({
      name: 'push_subscriptions.create',
      summary: 'Add a device that receives push messages, or replace the settings of the one with the same endpoint',
      method: 'post',
      path,
      accepts: ['api'],
      body: pushDeviceBody,
      gives: pushDevice,
      handle: async ({ credential, body }): Promise<PushDevice> => {
        const { workspaceId, id: keyId } = credential;
        return await push.add({ workspaceId, keyId, ownerId: callerOf(credential), name: nameOf(credential) }, body);
      },
    }),
    defineRoute({
      name: 'push_subscriptions.list',
      summary: 'List the devices of the workspace that receive push messages, without their addresses and keys',
      method: 'get',
      path,
      accepts: ['api'],
      gives: pushDevices,
      handle: async ({ credential: { workspaceId } }): Promise<PushDeviceList> => ({
        type: 'push_subscriptions',
        data: await push.list(workspaceId),
      }),
    }),
    defineRoute({
      name: 'push_subscriptions.test',
      summary:
        'Send a test message to a device at once; 409 `push_not_accepted` if its push service does not accept it',
      method: 'post',
      path: `${path}/{push_subscription_id}/test`,
      accepts: ['api'],
      body: z.strictObject({}),
      gives: pushDevice,
      handle: async ({ credential, params: { push_subscription_id: id } }) => {
        const { workspaceId } = credential;
        await checkOwner(push, credential, id);
        const device = await push.test(workspaceId, id);
        if (device === undefined) throw unknownId(id);
        if (device.problem === null) return device;
        throw requestError('push_not_accepted', `the test message was not accepted: ${device.problem}`);
      },
    }),
    defineRoute({
      name: 'push_subscriptions.delete',
      summary: 'Remove a device; it receives no further push messages',
      method: 'delete',
      path: `${path}/{push_subscription_id}`,
      accepts: ['api'],
      gives: z.strictObject({ type: z.literal('push_subscription_deleted'), id: z.string() }),
      handle: async ({ credential, params: { push_subscription_id: id } }) => {
        await checkOwner(push, credential, id);
        const { workspaceId } = credential;
        if (!(await push.remove(workspaceId, id))) throw unknownId(id);
        return { type: 'push_subscription_deleted', id };
      },
    }),
  ];
}

/** Throws unless the caller has added the device, or may manage the devices of other callers. */
async function checkOwner(push: Push, credential: Credential, id: string): Promise<void> {
  if (hasScope(credential, 'manage')) return;
  const owner = await push.ownerOf(credential.workspaceId, id);
  if (owner === undefined) throw unknownId(id);
  if (owner !== callerOf(credential))
    requireScopes(`the device ${id}, which another caller has added,`, credential, ['manage']);
}
