// Ways to send responses that no correct server sends.

import { gzipSync } from 'node:zlib';

export const MIB = 1024 * 1024;

export function sendJson(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export function begin(response, type = 'text/event-stream', status = 200, headers = {}) {
  return response.writeHead(status, { 'content-type': type, ...headers });
}

/** Sends a piece repeatedly, as fast as the client reads it, this many times or without end. */
export function flood(response, piece, times = Number.POSITIVE_INFINITY, last = '') {
  const bytes = Buffer.from(piece);
  let count = 0;
  const more = () => {
    while (!response.destroyed && count++ < times) if (!response.write(bytes)) return void response.once('drain', more);
    if (!response.destroyed) response.end(last);
  };
  more();
}

/** Sends a piece at intervals, without end. */
export function drip(response, piece, everyMs = 20) {
  const timer = setInterval(() => response.write(piece), everyMs);
  response.on('close', () => clearInterval(timer));
}

/** Writes bytes directly to the connection, without Node's response object. */
export function raw(response, text) {
  response.socket.write(text);
}

export function rawFlood(response, head, piece) {
  const { socket } = response;
  socket.write(head);
  const more = () => {
    while (!socket.destroyed) if (!socket.write(piece)) return void socket.once('drain', more);
  };
  more();
}

export const X64K = 'x'.repeat(64 * 1024);
/** Unpacks to so many mebibytes of the same text. Parts of it are packed on their own, so that making it takes no time. */
export const bomb = (text, mebibytes) => {
  const part = gzipSync(Buffer.alloc(Math.floor(MIB / text.length) * text.length, text));
  return Buffer.concat(Array.from({ length: mebibytes }, () => part));
};
