import type { Context } from './context.ts';
import { expectFound } from './expect.ts';
import type { Step } from './script.ts';
import { ofType, type Talk } from './talk.ts';

/** A session in which every built-in tool needs an approval. */
export function sessionWithApprovals(t: Context, turns: readonly (readonly Step[])[]): Promise<Talk> {
  const default_config = { permission_policy: { type: 'always_ask' } };
  return t.session({ turns, tools: [{ type: 'agent_toolset_20260401', default_config }] as never });
}

/** The event ids that the last idle event waits for. */
export async function pendingIds(talk: Talk): Promise<readonly string[]> {
  const events = await talk.list();
  const { stop_reason: stop } = expectFound(
    ofType(events, 'session.status_idle').at(-1),
    'session.status_idle',
    events,
  );
  return stop.type === 'requires_action' ? stop.event_ids : [];
}

/** Decides all pending tool calls, after a message that starts the turn if one is given. */
export async function answer(talk: Talk, result: 'allow' | 'deny', say?: string, deny_message?: string) {
  if (say !== undefined) await talk.turn(say);
  const ids = await pendingIds(talk);
  const more = deny_message === undefined ? {} : { deny_message };
  return talk.turn(...ids.map((id) => ({ type: 'user.tool_confirmation', tool_use_id: id, result, ...more }) as const));
}
