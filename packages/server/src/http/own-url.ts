import type { IncomingMessage } from 'node:http';

/** The address of this server as the caller reaches it, without a slash at the end. The host has been checked. */
export function toOwnUrl(incoming: IncomingMessage): string {
  const { headers, socket } = incoming;
  // TLS ends at this server, or at a proxy before it.
  const isSecure = headers['x-forwarded-proto'] === 'https' || ('encrypted' in socket && socket.encrypted === true);
  return `${isSecure ? 'https' : 'http'}://${(headers.host ?? '').toLowerCase()}`;
}
