import { join } from 'node:path';
import type { DirectoryResourceParams } from '@fleetloom/protocol/managed-agents';
import { framesOf, say } from './snapshots.suite.ts';
import { type TestServer, toScript, withServer } from '../server.suite.ts';
import { type UserRepository, withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';

/** The script of an agent: the steps of each model request. */
export type Script = readonly (readonly object[])[];

/** A session whose coordinator delegates to agents that play scripts. */
export interface IsolatedFleet {
  /** The agents of the roster by name, with their scripts. */
  readonly agents: Readonly<Record<string, Script>>;
  /** What the coordinator does. */
  readonly script: Script;
  /** `isolation` of all entries of the roster. */
  readonly isolation?: 'worktree' | 'shared';
  readonly resource: Omit<DirectoryResourceParams, 'type'> | null;
  /** Other resources. */
  readonly resources?: readonly object[];
}

export const bash = (command: string) => ({ call: 'bash', input: { command } });
export const write = (path: string, content: string) => ({ call: 'write', input: { file_path: path, content } });
export const done = [{ say: 'done' }];

/** A call of `delegate` with one task for each agent, in worktrees of their own unless it says otherwise. */
export function delegate(agents: readonly string[], isolation: 'worktree' | 'shared' | null = 'worktree') {
  const tasks = agents.map((agent) => ({ agent, message: 'Go.', ...(isolation === null ? {} : { isolation }) }));
  return { call: 'delegate', input: { tasks } };
}

/** A call of `merge_changes` for the thread that the last message names. */
export const mergeNamed = { call: 'merge_changes', input: { thread_id: '{{last_user}}' } };

/** Creates the session. */
export async function createFleet({ client }: Pick<TestServer, 'client'>, fleet: IsolatedFleet): Promise<string> {
  const tools = [{ type: 'agent_toolset_20260401' as const }];
  const { isolation } = fleet;
  const entries: object[] = [];
  for (const [name, script] of Object.entries(fleet.agents)) {
    const made = await client.beta.agents.create({ name, model: 'scripted/inline', system: toScript(script), tools });
    entries.push({ type: 'agent', id: made.id, ...(isolation === undefined ? {} : { isolation }) });
  }
  const coordinator = await client.beta.agents.create({
    name: 'main',
    model: 'scripted/inline',
    system: toScript(fleet.script),
    tools,
    // `isolation` is not in the types of the SDK.
    multiagent: { type: 'coordinator', agents: entries as never },
  });
  const environment = await client.beta.environments.create({ name: 'here' });
  const { id } = await client.beta.sessions.create({
    agent: coordinator.id,
    environment_id: environment.id,
    resources: [
      ...(fleet.resource === null ? [] : [{ type: 'directory', ...fleet.resource }]),
      ...(fleet.resources ?? []),
    ] as never,
  });
  return id;
}

/** The threads of a session by the names of their agents, in their order. */
export async function threadsOf(test: Pick<TestServer, 'url' | 'key'>, id: string): Promise<[string, string][]> {
  return (await framesOf(test, id)).flatMap(({ type, payload }): [string, string][] =>
    type === 'session.thread_created' ? [[payload.agent_name, payload.session_thread_id]] : [],
  );
}

/** The first thread of an agent. */
export async function threadOf(test: Pick<TestServer, 'url' | 'key'>, id: string, name: string): Promise<string> {
  return (await threadsOf(test, id)).find(([agent]) => agent === name)![1];
}

/** Where the worktree of a thread is. */
export function worktreeOf({ directory }: Pick<TestServer, 'directory'>, id: string, thread: string): string {
  return join(directory, 'workspaces', `${id}.threads`, thread);
}

/** The texts of the results of a tool, in their order. */
export async function resultsOf(
  test: Pick<TestServer, 'url' | 'key'>,
  id: string,
  name: string,
): Promise<{ text: string; isError: boolean }[]> {
  const frames = await framesOf(test, id);
  const calls = new Set(
    frames.flatMap(({ type, payload }) => (type === 'agent.tool_use' && payload.name === name ? [payload.id] : [])),
  );
  return frames.flatMap(({ type, payload }) => {
    if (type !== 'agent.tool_result' || !calls.has(payload.tool_use_id)) return [];
    const text = payload.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    return [{ text, isError: payload.is_error }];
  });
}

/** Creates a fleet, has it work, and returns the session. */
export async function runFleet(test: TestServer, fleet: IsolatedFleet): Promise<string> {
  const id = await createFleet(test, fleet);
  await say(test, id);
  return id;
}

/** Runs with a server that may use the repository of a user. */
export async function withUser(run: (test: TestServer, user: UserRepository) => Promise<void>): Promise<void> {
  await withRepository((user) => withServer((test) => run(test, user), { allowedDirectories: [user.root] }));
}
