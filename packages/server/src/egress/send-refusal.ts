import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Refusal } from './open-target.ts';

/** It distinguishes a refusal of the proxy from a response of the host. */
const HEADERS = { 'x-fleetloom-egress': 'denied', 'content-type': 'text/plain; charset=utf-8', connection: 'close' };

/** Answers a request that is refused. What was not read of it is dropped. */
export function sendRefusal(request: IncomingMessage, response: ServerResponse, { status, message }: Refusal): void {
  if (response.headersSent) return void response.destroy();
  const body = `${message}\n`;
  // With the words for it: a response keeps those that a host has sent, also when they could not be sent on.
  response
    .writeHead(status, STATUS_CODES[status] ?? 'Refused', { ...HEADERS, 'content-length': Buffer.byteLength(body) })
    .end(body);
  request.resume();
}

/** The same where there is nothing but the connection: the refusal of a tunnel. Of that clients show the status line at most. */
export function writeRefusal(near: Duplex, { status, message }: Refusal): void {
  if (!near.writable) return;
  const body = `${message}\n`;
  const headers = Object.entries({ ...HEADERS, 'content-length': String(Buffer.byteLength(body)) });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  near.end(`HTTP/1.1 ${status} ${toReasonPhrase(message)}\r\n${lines}\r\n${body}`);
}

/** A message as it may be in a status line: names of hosts come from the client. */
function toReasonPhrase(message: string): string {
  return message.replaceAll(/[^ -~]/g, '?').slice(0, REASON_CHARS);
}

/** Longer status lines are more than some clients read. */
const REASON_CHARS = 500;
