import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

it('[Y213] a message to a thread that its program does not accept goes to the coordinator, whatever the name of the engine', async () => {
  const asked: { readonly path: string; readonly body: unknown }[] = [];
  let refusal: string | undefined = 'thread_not_steerable';
  vi.stubGlobal('location', new URL('http://here/'));
  vi.stubGlobal('fetch', async (url: URL | string, init: RequestInit = {}) => {
    const path = String(url).replace(/^.*v1/, 'v1');
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : null;
    asked.push({ path, body });
    if (!path.endsWith('/messages') || refusal === undefined) return Response.json({ data: [] });
    const error = { type: 'invalid_request_error', message: 'refused' };
    return Response.json({ type: 'error', error: { ...error, details: { error_code: refusal } } }, { status: 409 });
  });
  const { sendMessage } = await import('./send-message.ts');
  const target = { sessionId: 'sesn_1', threadId: 'sthr_2', agent: 'worker' };
  const direct = 'v1/sessions/sesn_1/threads/sthr_2/messages';
  await sendMessage(target, 'hello');
  expect(asked.map(({ path }) => path)).toEqual([direct, 'v1/sessions/sesn_1/events']);
  expect(asked[1]!.body).toMatchObject({
    events: [{ content: [{ text: 'For worker (thread sthr_2): hello' }] }],
  });
  refusal = undefined;
  await sendMessage(target, 'hello');
  expect(asked.slice(2).map(({ path }) => path)).toEqual([direct]);
  refusal = 'session_archived';
  await expect(sendMessage(target, 'hello')).rejects.toMatchObject({ code: 'session_archived' });
  expect(asked.slice(3).map(({ path }) => path)).toEqual([direct]);
});
