import { CLIENT_OWNER } from '../../store/lease-owners.ts';

/** The owner of the lease of an imported session, the same for every client. */
export function toImporter(conversation: string): string {
  return `${CLIENT_OWNER}${conversation}`;
}

/** Whether a lease is held for a client that imports the session. */
export function isImporter(owner: string): boolean {
  return owner.startsWith(CLIENT_OWNER);
}
