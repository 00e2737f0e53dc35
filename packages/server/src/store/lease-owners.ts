/** The beginning of the owner of a lease that is held for a client of the server, and not for a process of it. */
export const CLIENT_OWNER = 'import ';
