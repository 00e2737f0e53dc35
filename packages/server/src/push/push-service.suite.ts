import { execFileSync } from 'node:child_process';
import { createDecipheriv, createECDH, createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PushMessage } from '@fleetloom/protocol/fleet';
import { onTestFinished, vi } from 'vitest';

/** A request that a push service received. */
export interface ReceivedPush {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A push service as browsers use them: an HTTPS server that receives encrypted messages. */
export interface PushService {
  readonly host: string;
  readonly received: ReceivedPush[];
  /** Creates the response to a message, by default 201. If it returns undefined, no response is sent. */
  answer: (push: ReceivedPush) => { status: number; headers?: Record<string, string> } | undefined;
  /** Creates a subscribed browser, with the endpoint that it sends to the server. */
  subscribe(path?: string): { readonly endpoint: string } & Subscriber;
}

/** The keys of a subscribed browser, and its decryption of messages. */
export interface Subscriber {
  readonly keys: { readonly p256dh: string; readonly auth: string };
  decrypt(body: Buffer): string;
  read(push: ReceivedPush | undefined): PushMessage;
}

/** Starts a push service with a certificate of its own, which this process accepts until the test has finished. */
export async function startPushService(): Promise<PushService> {
  const server = createServer(createCertificate(), (request, response) => void take(request, response));
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service: PushService = {
    host,
    received: [],
    answer: () => ({ status: 201 }),
    subscribe: (path = '/push/secret-path') => ({ endpoint: `https://${host}${path}`, ...createSubscriber() }),
  };
  return service;

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const push = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts) };
    service.received.push(push);
    const answer = service.answer(push);
    if (answer !== undefined) response.writeHead(answer.status, answer.headers).end();
  }
}

/** A certificate for 127.0.0.1, and its key. */
export function createCertificate(): { readonly key: Buffer; readonly cert: Buffer } {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-push-'));
  const [key, cert] = [join(directory, 'key'), join(directory, 'cert')];
  const about = ['-days', '2', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...about], { stdio: 'ignore' });
  const made = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(directory, { recursive: true });
  return made;
}

/** The receiving side of RFC 8291, written from its text and not from the code that encrypts. */
export function createSubscriber(): Subscriber {
  const own = createECDH('prime256v1');
  const p256dh = own.generateKeys();
  const auth = randomBytes(16);
  const decrypt = (body: Buffer) => {
    const salt = body.subarray(0, 16);
    const sender = body.subarray(21, 21 + body.readUInt8(20));
    const first = hmac(auth, own.computeSecret(sender));
    const secret = hmac(first, Buffer.from('WebPush: info\0'), p256dh, sender, Buffer.from([1]));
    const second = hmac(salt, secret);
    const key = hmac(second, Buffer.from('Content-Encoding: aes128gcm\0\x01')).subarray(0, 16);
    const nonce = hmac(second, Buffer.from('Content-Encoding: nonce\0\x01')).subarray(0, 12);
    const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(body.subarray(-16));
    const text = Buffer.concat([decipher.update(body.subarray(21 + sender.length, -16)), decipher.final()]);
    return text.subarray(0, text.lastIndexOf(2)).toString();
  };
  return {
    keys: { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') },
    decrypt,
    read: (push) => JSON.parse(decrypt(push!.body)) as PushMessage,
  };
}

function hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  return createHmac('sha256', key).update(Buffer.concat(parts)).digest();
}
