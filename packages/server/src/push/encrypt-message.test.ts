import { createECDH, createPublicKey, verify } from 'node:crypto';
import { expect, it } from 'vitest';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { encryptMessage, isPublicKey, MESSAGE_BYTES_MAX } from './encrypt-message.ts';
import { createSubscriber } from './push-service.suite.ts';
import { openVapid, toVapid } from './vapid.ts';

const bytes = (text: string) => Buffer.from(text, 'base64url');

it('[W114] a message is encrypted as in the example of RFC 8291, and only the subscriber can read it', () => {
  const sender = createECDH('prime256v1');
  sender.setPrivateKey(bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'));
  const keys = {
    p256dh: bytes('BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'),
    auth: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
  };
  const random = { sender, salt: bytes('DGv6ra1nlYgDCS1FRnbzlw') };
  const text = 'When I grow up, I want to be a watermelon';
  expect(encryptMessage(text, keys, 1, random).toString('base64url')).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_y' +
      'l95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  );
  const [mine, other] = [createSubscriber(), createSubscriber()];
  const body = encryptMessage(text, { p256dh: bytes(mine.keys.p256dh), auth: bytes(mine.keys.auth) });
  expect(mine.decrypt(body)).toBe(text);
  expect(() => other.decrypt(body)).toThrow();
});

it('[W114] texts of up to 1,023 bytes have the same length when they are encrypted; the longest has 3,993 bytes', () => {
  const subscriber = createSubscriber();
  const target = { p256dh: bytes(subscriber.keys.p256dh), auth: bytes(subscriber.keys.auth) };
  const sizes = ['', 'a', 'x'.repeat(1_023)].map((text) => encryptMessage(text, target).length);
  expect(new Set(sizes)).toEqual(new Set([86 + 1_024 + 16]));
  const longest = encryptMessage('y'.repeat(MESSAGE_BYTES_MAX), target);
  expect([longest.length, subscriber.decrypt(longest)]).toEqual([4_096, 'y'.repeat(3_993)]);
  expect(() => encryptMessage('y'.repeat(MESSAGE_BYTES_MAX + 1), target)).toThrow('too long');
});

it('[W114] a public key that is not a point on the curve is recognised', () => {
  const point = bytes(createSubscriber().keys.p256dh);
  const moved = Buffer.from(point);
  moved[64]! ^= 1;
  expect([
    isPublicKey(point),
    isPublicKey(moved),
    isPublicKey(point.subarray(1)),
    isPublicKey(Buffer.alloc(0)),
  ]).toEqual([true, false, false, false]);
});

it('[W115] the key pair is created once for a store; its signature names the push service and expires within a day', async () => {
  const store = createMemoryStore();
  const [first, second] = await Promise.all([openVapid(store, undefined), openVapid(store, undefined)]);
  expect(first.publicKey).toBe(second.publicKey);
  const stored = (await store.documents.get('secret', 'vapid_key'))!;
  const vapid = toVapid(stored.data['key'] as string);
  const now = Date.UTC(2026, 10, 18);
  const header = vapid.authorize({ url: new URL('https://push.example/secret'), now, contact: 'mailto:a@b.example' });
  const [, token = '', key] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(header)!;
  expect(key).toBe(first.publicKey);
  const [head = '', claims = '', signature = ''] = token.split('.');
  expect(JSON.parse(bytes(head).toString())).toEqual({ typ: 'JWT', alg: 'ES256' });
  expect(JSON.parse(bytes(claims).toString())).toEqual({
    aud: 'https://push.example',
    exp: now / 1_000 + 12 * 60 * 60,
    sub: 'mailto:a@b.example',
  });
  const point = bytes(key!);
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  const isValid = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    bytes(signature),
  );
  expect(isValid).toBe(true);
});
