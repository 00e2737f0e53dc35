/** Prefix of the owners of leases that are held for a client instead of a server process. */
export const CLIENT_OWNER = 'import ';
