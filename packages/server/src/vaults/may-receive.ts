import type { CredentialNetworking } from '@fleetloom/protocol/managed-agents';
import { isHostOf, toHostEntry } from '../tools/network/host-entry.ts';

/** Whether a secret may be sent to a host. */
export function mayReceive(networking: CredentialNetworking, host: string): boolean {
  if (networking.type === 'unrestricted') return true;
  return networking.allowed_hosts.some((text) => isHostOf(toHostEntry(text), host));
}
