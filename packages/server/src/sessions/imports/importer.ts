/** The owner of the lease of an imported session, whichever client imports it. */
export function toImporter(conversation: string): string {
  return `${PREFIX}${conversation}`;
}

/** Whether a lease is held for a client that imports the session. */
export function isImporter(owner: string): boolean {
  return owner.startsWith(PREFIX);
}

const PREFIX = 'import ';
