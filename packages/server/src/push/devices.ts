import { createHash } from 'node:crypto';
import type { PushDevice, PushDeviceParams } from '@fleetloom/protocol/fleet';
import { requestError } from '../base/request-error.ts';
import { type AddressRules, findAddresses } from '../tools/network/find-addresses.ts';
import { pushLimits } from './limits.ts';
import type { PushState, StoredDevice } from './push-records.ts';

/** The caller that adds a device. */
export interface DeviceOwner {
  readonly workspaceId: string;
  readonly keyId: string;
  /** The person, login or key that may test and remove the device. */
  readonly ownerId: string;
  /** The displayed name of the caller's key. */
  readonly name: string;
}

/** A new device, and the change that adds it, or replaces the settings of the device with the same endpoint. */
export function addDevice(
  { workspaceId, keyId, ownerId, name }: DeviceOwner,
  params: PushDeviceParams,
  now: number,
): { readonly device: StoredDevice; readonly change: (state: PushState) => PushState } {
  const { label, endpoint, keys, notify = ['approvals', 'failures'], quiet_hours: quiet = null } = params;
  const device: StoredDevice = {
    id: toId(workspaceId, endpoint),
    label,
    endpoint,
    ...keys,
    notify: [...new Set(notify)],
    quietHours: quiet && { from: quiet.from, to: quiet.to, timeZone: quiet.time_zone },
    includesContent: params.include_content ?? false,
    createdBy: name,
    keyId,
    ownerId,
    createdAt: now,
    pending: {},
    failures: 0,
    notBefore: 0,
    claim: null,
    lastSentAt: null,
    problem: null,
  };
  return { device, change: (state) => withNew(state, device) };
}

/** Throws if a device may not have this endpoint. It is checked again before each message, because names can change their address. */
export async function checkEndpoint(endpoint: string, rules: AddressRules): Promise<void> {
  const url = new URL(endpoint);
  const found = await findAddresses(url, rules).catch(() => undefined);
  if (found?.type !== 'not_public') return;
  throw requestError('invalid_request', `the push service ${url.host} does not have a public address`, {
    advice: `ask the operator to start the server with --allow-private-host ${url.host}`,
  });
}

/** A device as shown in responses: without its endpoint and keys. */
export function toPushDevice(device: StoredDevice): PushDevice {
  const { quietHours: quiet, createdAt, lastSentAt } = device;
  return {
    type: 'push_subscription',
    id: device.id,
    label: device.label,
    service: new URL(device.endpoint).host,
    notify: device.notify,
    quiet_hours: quiet && { from: quiet.from, to: quiet.to, time_zone: quiet.timeZone },
    include_content: device.includesContent,
    created_by: device.createdBy,
    created_at: new Date(createdAt).toISOString(),
    last_sent_at: lastSentAt === null ? null : new Date(lastSentAt).toISOString(),
    problem: device.problem,
  };
}

function withNew(state: PushState, device: StoredDevice): PushState {
  const known = state.devices.find(({ id }) => id === device.id);
  const others = state.devices.filter(({ id }) => id !== device.id);
  if (others.length >= pushLimits.pushSubscriptionsMax) {
    throw requestError('invalid_request', `this workspace has ${others.length} devices that receive push messages`, {
      advice: 'remove one of them',
    });
  }
  const { createdAt, pending, claim, lastSentAt } = known ?? device;
  return { ...state, devices: [...others, { ...device, createdAt, pending, claim, lastSentAt }] };
}

/** The id of a device depends on its endpoint, so that an endpoint is never added twice. */
function toId(workspaceId: string, endpoint: string): string {
  return `push_${createHash('sha256').update(`${workspaceId}\n${endpoint}`).digest('hex').slice(0, ID_CHARS)}`;
}

const ID_CHARS = 24;
