import type { Upstream } from '../gateway/upstream.ts';
import type { ProgramHost } from '../program-host.ts';

/** The upstream of requests of the Messages API: the endpoint of the server's models, or without a credential the scripted model. */
export function toMessagesUpstream({ models, handleScripted }: ProgramHost): Upstream {
  if (models === undefined) return { type: 'handler', handle: handleScripted };
  return { type: 'endpoint', baseURL: models.baseURL ?? ANTHROPIC, credential: models.credential };
}

/** The endpoint of models unless the operator has set another one. */
export const ANTHROPIC = 'https://api.anthropic.com';
