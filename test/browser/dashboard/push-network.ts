import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { type BrowserContext, chromium } from 'playwright-core';
import { onTestFinished, vi } from 'vitest';
import { createCertificate } from '../../../packages/server/src/push/push-service.suite.ts';
import { chromiumFlags, chromiumPath } from '../../support/chromium.ts';

/**
 * Replaces the network that delivers push messages to Chromium. The browser registers here with its own client (Google Cloud
 * Messaging) and receives messages on a connection of its own, as it does with Google: check-in and registration over HTTP, messages
 * over TLS. Only the addresses differ.
 */
export interface PushNetwork {
  /** A browser with a profile of its own, which push messages need: a private window cannot subscribe. */
  openContext(): Promise<BrowserContext>;
  /** Delivers an encrypted message to the browser that subscribed last. */
  deliver(body: Buffer): Promise<void>;
}

export async function startPushNetwork(): Promise<PushNetwork> {
  /** The last registration: the recipient of messages, and the key that may send them. */
  let registration = new URLSearchParams();
  let count = 0;
  let newest: TLSSocket | undefined;
  const web = createServer((request, response) => void answer(request, response));
  const messages = createTlsServer(createCertificate(), (socket) => {
    // Chromium opens another connection once it is registered: the newest one is in use.
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.concat([Buffer.from([VERSION]), toFrame(LOGIN_RESPONSE, text(1, 'login'))]));
      newest = socket;
    });
  });
  const [webPort, messagesPort] = [await listen(web), await listen(messages)];
  const at = `http://127.0.0.1:${webPort}`;
  return {
    openContext: async () => {
      const profile = mkdtempSync(join(tmpdir(), 'fleetloom-profile-'));
      const context = await chromium.launchPersistentContext(profile, {
        executablePath: chromiumPath(),
        // This flag disables the client for push messages.
        ignoreDefaultArgs: [NO_BACKGROUND],
        args: [
          ...chromiumFlags.filter((flag) => flag !== NO_BACKGROUND),
          '--ignore-certificate-errors',
          `--gcm-checkin-url=${at}/checkin`,
          `--gcm-registration-url=${at}/register`,
          `--gcm-mcs-endpoint=https://127.0.0.1:${messagesPort}`,
        ],
        viewport: { width: 1_440, height: 900 },
        reducedMotion: 'reduce',
      });
      onTestFinished(async () => {
        await context.close();
        rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
      });
      return context;
    },
    deliver: async (body) => {
      const socket = await vi.waitFor(
        () => newest ?? Promise.reject(new Error('the browser is not connected')),
        20_000,
      );
      count += 1;
      socket.write(toFrame(DATA_MESSAGE, toDataMessage(registration, body, count)));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.url === '/checkin') return void response.end(checkedIn);
    const asked = new URLSearchParams(Buffer.concat(parts).toString());
    if (asked.has('X-subtype') && !asked.has('delete')) registration = asked;
    response.end(asked.has('delete') ? `deleted=${asked.get('app')}` : 'token=secret-token');
  }
}

const NO_BACKGROUND = '--disable-background-networking';

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

// Chromium's protocol (google_apis/gcm/protocol): frames of a tag, a length and a protocol buffer.

const VERSION = 41;
const LOGIN_RESPONSE = 3;
const DATA_MESSAGE = 8;

function toFrame(tag: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), varint(body.length), body]);
}

function toDataMessage(registration: URLSearchParams, body: Buffer, count: number): Buffer {
  const data = (key: string, value: string) => bytes(7, Buffer.concat([text(1, key), text(2, value)]));
  return Buffer.concat([
    text(2, `message-${count}`),
    text(3, registration.get('sender')!),
    text(5, registration.get('app')!),
    data('subtype', registration.get('X-subtype')!),
    data('content-encoding', 'aes128gcm'),
    text(9, `message-${count}`),
    bytes(21, body),
  ]);
}

/** A check-in that succeeded: any id and token of a device. */
const checkedIn = Buffer.concat([varint(1 << 3), varint(1), fixed64(7, 815n), fixed64(8, 4711n)]);

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value));
}

function bytes(field: number, value: Buffer): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);
}

function fixed64(field: number, value: bigint): Buffer {
  const number = Buffer.alloc(8);
  number.writeBigUInt64LE(value);
  return Buffer.concat([varint((field << 3) | 1), number]);
}

function varint(value: number): Buffer {
  const low = value % 128;
  return value < 128 ? Buffer.from([low]) : Buffer.concat([Buffer.from([low | 128]), varint(Math.floor(value / 128))]);
}
