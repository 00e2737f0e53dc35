import type { Credential } from './options.ts';

/** The key or token of the environment; the key takes precedence, as in the official SDK. Undefined if both are absent. */
export function readCredential(environment: Readonly<Record<string, string | undefined>>): Credential | undefined {
  const apiKey = environment['ANTHROPIC_API_KEY']?.trim() ?? '';
  if (apiKey !== '') return { apiKey };
  const authToken = environment['ANTHROPIC_AUTH_TOKEN']?.trim() ?? '';
  return authToken === '' ? undefined : { authToken };
}
