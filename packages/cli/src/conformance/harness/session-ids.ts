import type Anthropic from '@anthropic-ai/sdk';
import type { Context } from './context.ts';

/** The ids of all pages of a list of sessions. */
export async function idsOf(t: Context, params: Anthropic.Beta.SessionListParams): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of t.client.beta.sessions.list(params)) ids.push(id);
  return ids;
}
