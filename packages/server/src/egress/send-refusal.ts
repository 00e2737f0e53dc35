import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Refusal } from './open-target.ts';

/** The headers of a refusal. The first one distinguishes it from a response of the host. */
const HEADERS = { 'x-fleetloom-egress': 'denied', 'content-type': 'text/plain; charset=utf-8', connection: 'close' };

/** Sends the response to a refused request, and drops the unread part of the request. */
export function sendRefusal(request: IncomingMessage, response: ServerResponse, { status, message }: Refusal): void {
  if (response.headersSent) return void response.destroy();
  const body = `${message}\n`;
  // Sets the reason phrase: otherwise the phrase of a host's response that could not be forwarded would stay.
  response
    .writeHead(status, STATUS_CODES[status] ?? 'Refused', { ...HEADERS, 'content-length': Buffer.byteLength(body) })
    .end(body);
  request.resume();
}

/** Sends the refusal of a tunnel, for which there is only the connection. Clients show at most its status line. */
export function writeRefusal(near: Duplex, { status, message }: Refusal): void {
  if (!near.writable) return;
  const body = `${message}\n`;
  const headers = Object.entries({ ...HEADERS, 'content-length': String(Buffer.byteLength(body)) });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  near.end(`HTTP/1.1 ${status} ${toReasonPhrase(message)}\r\n${lines}\r\n${body}`);
}

/** A message as a reason phrase, limited to printable ASCII: host names in it come from the client. */
function toReasonPhrase(message: string): string {
  return message.replaceAll(/[^ -~]/g, '?').slice(0, REASON_CHARS);
}

/** Characters of a reason phrase: some clients do not read longer status lines. */
const REASON_CHARS = 500;
