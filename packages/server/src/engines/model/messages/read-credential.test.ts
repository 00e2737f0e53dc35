import { expect, it } from 'vitest';
import { readCredential } from './read-credential.ts';

it('[N27] the key of the environment goes before its token, and empty ones are none', () => {
  expect(readCredential({ ANTHROPIC_API_KEY: ' key ', ANTHROPIC_AUTH_TOKEN: 'token' })).toEqual({ apiKey: 'key' });
  expect(readCredential({ ANTHROPIC_API_KEY: ' ', ANTHROPIC_AUTH_TOKEN: 'token' })).toEqual({ authToken: 'token' });
  expect(readCredential({ ANTHROPIC_AUTH_TOKEN: '' })).toBeUndefined();
  expect(readCredential({})).toBeUndefined();
});
