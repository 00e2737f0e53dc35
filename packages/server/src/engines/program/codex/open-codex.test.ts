import { expect, it } from 'vitest';
import { toModelUpstream } from './open-codex.ts';

it('[CX28] without a key the scripted model answers; with one OpenAI, or the endpoint of OPENAI_BASE_URL', () => {
  const handle = () => {};
  expect(toModelUpstream(handle, {})).toEqual({ type: 'handler', handle });
  expect(toModelUpstream(handle, { OPENAI_API_KEY: 'key' })).toEqual({
    type: 'endpoint',
    baseURL: 'https://api.openai.com',
    credential: { authToken: 'key' },
  });
  const own = toModelUpstream(handle, { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1/' });
  expect(own).toMatchObject({ baseURL: 'http://127.0.0.1:9' });
  expect(() => toModelUpstream(handle, { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: 'file:///x' })).toThrow(
    'OPENAI_BASE_URL',
  );
});
