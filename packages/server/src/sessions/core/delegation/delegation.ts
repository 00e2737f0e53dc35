import { MERGE_TOOL } from '@fleetloom/protocol/managed-agents';
import { isObject, type Json, type JsonObject } from '../../../base/json/json.ts';
import { sessionLimits } from '../limits.ts';
import { agentOf } from '../state/agent-of.ts';
import type { Draft } from '../draft.ts';
import { addToolResult } from '../turn/add-tool-result.ts';
import { delegatesOf } from './delegation-tools.ts';
import { startMerge } from './start-merge.ts';
import { readTasks, type Task } from './read-tasks.ts';
import { sendToThread, spawn } from './spawn.ts';
import { type Answer, type Call, type SessionState, type ThreadState, textAnswer } from '../state/state.ts';

/** Runs a delegation call. `delegate` stays open until all children have reported. */
export function performDelegation(draft: Draft, thread: ThreadState, call: Call): void {
  const { depth_max: depthMax } = draft.state.created;
  if (thread.depth >= depthMax) {
    const reason = `agents at depth ${thread.depth} cannot delegate, the deepest is ${depthMax}: do the task yourself`;
    return addToolResult(draft, thread, call, refuseEach(call, reason));
  }
  const input = isObject(call.input) ? call.input : {};
  if (call.name === 'list_agents') return addToolResult(draft, thread, call, listAgents(draft.state, thread));
  if (call.name === 'send_to_agent') return addToolResult(draft, thread, call, sendToAgent(draft, thread, input));
  if (call.name === MERGE_TOOL) return startMerge(draft, thread, call, input);
  delegate(draft, thread, call, input);
}

/** The result of a `delegate` call, in the order of its tasks; undefined until all children have reported. */
export function joinResults(call: Call): Answer | undefined {
  const tasks = readTasks(call.input);
  if (typeof tasks === 'string' || call.answers.size < tasks.length) return undefined;
  const parts = tasks.map(({ agent }, index) => {
    const { content, isError } = call.answers.get(index)!;
    const thread = call.children.get(index);
    const title = `[${index + 1}/${tasks.length}] ${agent}${thread === undefined ? '' : ` (thread ${thread})`}:`;
    return { blocks: [{ type: 'text' as const, text: title }, ...content], isError };
  });
  return { content: parts.flatMap(({ blocks }) => blocks), isError: parts.every(({ isError }) => isError) };
}

function listAgents(state: SessionState, thread: ThreadState): Answer {
  const threads = [...state.threads.values()].filter(({ parentId }) => parentId === thread.id);
  const agents = delegatesOf(state, thread).map((member) => {
    const { name, description } = state.created.members[member]!;
    const alive = threads.filter((child) => child.agentName === name && child.status !== 'terminated');
    return { name, description, threads: alive.map(({ id, status }) => ({ thread_id: id, status })) };
  });
  return textAnswer(JSON.stringify({ agents }), false);
}

function sendToAgent(draft: Draft, thread: ThreadState, input: JsonObject): Answer {
  const { agent, message, thread_id: threadId } = input;
  if (typeof message !== 'string' || message.trim() === '') return refusal('message must be a text that is not empty');
  // Messages reach only the main agent of a program.
  if (thread.programKey !== null)
    return refusal('its report could not reach you, because you are a sub-agent: use delegate');
  if (threadId !== undefined && threadId !== null) return followUp(draft, thread, { threadId, agent, message });
  const found = findMember(draft.state, thread, agent);
  if (typeof found === 'string') return refusal(found);
  const full = findCapacityProblem(draft.state, 1);
  if (full !== null) return refusal(full);
  const isolation = findIsolation(draft.state, found);
  if (isolation.problem !== null) return refusal(isolation.problem);
  const child = spawn(draft, thread, { member: found, message, isIsolated: isolation.isIsolated, join: null });
  return textAnswer(`${child.agentName} has begun in thread ${child.id}. Its report will come as a message.`, false);
}

interface FollowUp {
  readonly threadId: Json;
  readonly agent: Json | undefined;
  readonly message: string;
}

function followUp(draft: Draft, thread: ThreadState, { threadId, agent, message }: FollowUp): Answer {
  const child = typeof threadId === 'string' ? draft.state.threads.get(threadId) : undefined;
  if (child === undefined || child.parentId !== thread.id) {
    return refusal(`you have no thread ${JSON.stringify(threadId)}: list_agents shows yours`);
  }
  if (child.status === 'terminated')
    return refusal(`thread ${child.id} has ended: leave thread_id out to begin a new one`);
  // One of the two is a mistake, and a task for the wrong agent is worse than an error.
  if (agent !== undefined && agent !== child.agentName && agent !== agentOf(draft.state, child).id)
    return refusal(`thread ${child.id} is of ${child.agentName}, not of ${JSON.stringify(agent)}: name either`);
  const when = child.turn === null ? 'has begun' : 'is at work and will read it next';
  sendToThread(draft, thread, child, message, null);
  return textAnswer(`${child.agentName} ${when} in thread ${child.id}. Its report will come as a message.`, false);
}

function delegate(draft: Draft, thread: ThreadState, call: Call, input: JsonObject): void {
  const tasks = readTasks(input);
  if (typeof input['refused'] === 'string') return addToolResult(draft, thread, call, refusal(input['refused']));
  if (typeof tasks === 'string') return addToolResult(draft, thread, call, refusal(tasks));
  const members = tasks.map(({ agent }) => findMember(draft.state, thread, agent));
  const full = findCapacityProblem(draft.state, members.filter((found) => typeof found === 'number').length);
  if (full !== null) return addToolResult(draft, thread, call, refusal(full));
  const isolations = members.map((found, index) =>
    typeof found === 'string' ? null : findIsolation(draft.state, found, tasks[index]),
  );
  const refusals = members.flatMap((found, index) => {
    const reason = typeof found === 'string' ? found : isolations[index]!.problem;
    return reason === null ? [] : [{ index, reason }];
  });
  draft.add(thread, 'tool.started', { tool_use_id: call.id, refusals });
  for (const [index, member] of members.entries()) {
    const isolation = isolations[index]!;
    if (typeof member === 'string' || isolation?.problem !== null) continue;
    const { isIsolated } = isolation;
    const join = { tool_use_id: call.id, index };
    spawn(draft, thread, { member, message: tasks[index]!.message, isIsolated, join });
  }
}

/** Whether a new thread gets a worktree of its own: what the task says comes before what the roster says. */
function findIsolation(
  { created }: SessionState,
  member: number,
  task?: Task,
): { readonly isIsolated: boolean; readonly problem: string | null } {
  const { name, isolation } = created.members[member]!;
  const isIsolated = (task?.isolation ?? isolation ?? 'shared') === 'worktree';
  if (!isIsolated || created.is_recorded === true) return { isIsolated, problem: null };
  const problem = `${name} cannot have a worktree of its own: this session has neither a directory nor a repository in \`resources\``;
  return { isIsolated, problem };
}

/** The index of an agent of the roster, by name or id; an error message if there is none. */
function findMember(state: SessionState, thread: ThreadState, agent: Json | undefined): number | string {
  const { members } = state.created;
  const known = delegatesOf(state, thread);
  const found = known.find((member) => members[member]!.name === agent || members[member]!.id === agent);
  if (found !== undefined) return found;
  const names = known.map((member) => members[member]!.name).join(', ');
  return `there is no agent ${JSON.stringify(agent ?? null)}: choose one of ${names}`;
}

function findCapacityProblem(state: SessionState, more: number): string | null {
  const children = [...state.threads.values()].filter(({ parentId }) => parentId !== null);
  if (state.created.text_commands === true) return busyProblem(children, more);
  const live = children.filter(({ status }) => status !== 'terminated');
  if (live.length + more <= sessionLimits.liveChildrenMax) return null;
  return `${live.length} threads are alive and ${sessionLimits.liveChildrenMax} are allowed, so ${more} more cannot begin: go on with one of them by its thread_id`;
}

/** Where every delegation is a new thread, only running threads count. */
function busyProblem(children: readonly ThreadState[], more: number): string | null {
  const busy = children.filter(({ turn }) => turn !== null);
  if (busy.length + more <= sessionLimits.busyChildrenMax) return null;
  return `${busy.length} agents are at work and ${sessionLimits.busyChildrenMax} are allowed, so ${more} more cannot begin: wait for some of them`;
}

/** One error for each task, as there would have been results. */
function refuseEach({ input }: Call, reason: string): Answer {
  const tasks = readTasks(input);
  if (typeof tasks === 'string' || tasks.length === 1) return refusal(reason);
  const texts = tasks.map(({ agent }, index) => `ERR: [${index + 1}/${tasks.length}] ${agent}: ${reason}`);
  return { content: texts.map((text) => ({ type: 'text', text })), isError: true };
}

function refusal(reason: string): Answer {
  return textAnswer(`ERR: ${reason}`, true);
}
