import { expect, it } from 'vitest';
import { sendRaw } from './raw.ts';

it.each([
  ['repeated until the server accepts it', 5, 200, 6],
  ['reported after five repetitions', 6, 529, 6],
])('[Q46] a request that is rejected with 529 is %s', async (_name, rejections, status, attempts) => {
  const bodies: unknown[] = [];
  const fetchIt = async (_: unknown, init?: RequestInit) => {
    bodies.push(init?.body);
    const isRejected = bodies.length <= rejections;
    return new Response('{}', isRejected ? { status: 529, headers: { 'retry-after': '0' } } : { status: 200 });
  };
  const target = { url: 'http://127.0.0.1:1', key: 'k' };
  const request = { method: 'POST', path: '/v1/agents', body: { name: 'a' } };
  expect((await sendRaw(target, fetchIt as typeof fetch, request)).status).toBe(status);
  expect(bodies).toEqual(Array.from({ length: attempts }, () => '{"name":"a"}'));
});
