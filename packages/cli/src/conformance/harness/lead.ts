import type { SessionEvent, SessionThread } from '@fleetloom/protocol/managed-agents';
import type { AgentParams, Context } from './context.ts';
import type { EventOf } from '../forms/event-of.ts';
import { expectEqual, expectFound } from './expect.ts';
import { type Step, toCases } from './script.ts';
import { ofType, type Talk } from './talk.ts';

/** A coordinator that delegates a task to each of these agents at once and repeats their reports. */
export async function lead(
  t: Context,
  names: readonly string[],
  members: Readonly<Record<string, AgentParams>> = {},
): Promise<Talk> {
  const ids: string[] = [];
  for (const name of new Set(names)) {
    ids.push((await t.agent({ name, turns: [[{ say: `report of ${name}` }]], ...members[name] })).id);
  }
  const tasks = names.map((agent): Step => ({ call: 'send_to_agent', input: { agent, message: `task for ${agent}` } }));
  return t.session({
    name: 'lead',
    system: toCases([{ match: '^go$', turn: tasks }], [{ say: 'heard {{last_user}}' }]),
    multiagent: { type: 'coordinator', agents: ids } as never,
  });
}

/** The single sub-thread of a session; fails the check if there is another number. */
export async function onlyChild(talk: Talk): Promise<SessionThread> {
  const children = await talk.children();
  expectEqual(children.length, 1, 'children');
  return children[0]!;
}

/** Waits until this many sub-threads were created. */
export async function untilChildren(talk: Talk, count: number): Promise<void> {
  const stream = await talk.watch();
  let from = 0;
  for (let seen = 0; seen < count; seen += 1) {
    const created = await stream.until('session.thread_created', { from });
    from = stream.events.indexOf(created) + 1;
  }
}

/** The only pending tool call of this kind in a child thread. */
export function onlyPendingCall<Type extends 'agent.tool_use' | 'agent.custom_tool_use'>(
  events: readonly SessionEvent[],
  type: Type,
): EventOf<Type> {
  const asks = ofType(events, type).filter((event) => 'session_thread_id' in event);
  expectEqual(asks.length, 1, `${type} with a thread`);
  return expectFound(asks[0], type, events);
}

/** Every built-in tool needs approval. */
export const askingTools = [
  { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } },
] as never;

/** A tool that the client runs. */
export const customTools = [
  { type: 'custom', name: 'lookup', description: 'Looks up.', input_schema: { type: 'object' } },
] as never;

/** A step of a script that writes a file. */
export const write: Step = { call: 'write', input: { file_path: 'a.txt', content: 'shared' } };
