import type { Json, JsonObject } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { agentOf } from './agent-of.ts';
import type { Draft } from './draft.ts';
import { giveResult } from './give-result.ts';
import { isObject } from './is-object.ts';
import { readTasks } from './read-tasks.ts';
import { speakTo, spawn } from './spawn.ts';
import { type Answer, type Call, type SessionState, type ThreadState, textAnswer } from './state.ts';

/** Does what the call asks for. `delegate` stays open until its children have answered. */
export function performDelegation(draft: Draft, thread: ThreadState, call: Call): void {
  const { depth_max: depthMax } = draft.state.created;
  if (thread.depth >= depthMax) {
    const reason = `agents at depth ${thread.depth} cannot delegate, the deepest is ${depthMax}: do the task yourself`;
    return giveResult(draft, thread, call, refuseEach(call, reason));
  }
  const input = isObject(call.input) ? call.input : {};
  if (call.name === 'list_agents') return giveResult(draft, thread, call, listAgents(draft.state, thread));
  if (call.name === 'send_to_agent') return giveResult(draft, thread, call, sendToAgent(draft, thread, input));
  delegate(draft, thread, call, input);
}

/** The answers of a `delegate` call in the order of its tasks, once all are there. */
export function joinAnswers(call: Call): Answer | undefined {
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
  const agents = state.created.members.map(({ name, description }) => ({
    name,
    description,
    threads: threads
      .filter((child) => child.agentName === name && child.status !== 'terminated')
      .map((child) => ({ thread_id: child.id, status: child.status })),
  }));
  return textAnswer(JSON.stringify({ agents }), false);
}

function sendToAgent(draft: Draft, thread: ThreadState, input: JsonObject): Answer {
  const { agent, message, thread_id: threadId } = input;
  if (typeof message !== 'string' || message.trim() === '') return refusal('message must be a text that is not empty');
  if (threadId !== undefined && threadId !== null) return followUp(draft, thread, { threadId, agent, message });
  const found = findMember(draft.state, agent);
  if (typeof found === 'string') return refusal(found);
  const full = fullness(draft.state, 1);
  if (full !== null) return refusal(full);
  const child = spawn(draft, thread, { member: found, message, join: null });
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
  // One of the two is a mistake, and a task in the wrong hands is worse than a question.
  if (agent !== undefined && agent !== child.agentName && agent !== agentOf(draft.state, child).id)
    return refusal(`thread ${child.id} is of ${child.agentName}, not of ${JSON.stringify(agent)}: name either`);
  const when = child.turn === null ? 'has begun' : 'is at work and will read it next';
  speakTo(draft, thread, child, message, null);
  return textAnswer(`${child.agentName} ${when} in thread ${child.id}. Its report will come as a message.`, false);
}

function delegate(draft: Draft, thread: ThreadState, call: Call, input: JsonObject): void {
  const tasks = readTasks(input);
  if (typeof input['refused'] === 'string') return giveResult(draft, thread, call, refusal(input['refused']));
  if (typeof tasks === 'string') return giveResult(draft, thread, call, refusal(tasks));
  const members = tasks.map(({ agent }) => findMember(draft.state, agent));
  const full = fullness(draft.state, members.filter((found) => typeof found === 'number').length);
  if (full !== null) return giveResult(draft, thread, call, refusal(full));
  const refusals = members.flatMap((found, index) => (typeof found === 'string' ? [{ index, reason: found }] : []));
  draft.add(thread, 'tool.started', { tool_use_id: call.id, refusals });
  for (const [index, member] of members.entries()) {
    if (typeof member === 'string') continue;
    spawn(draft, thread, { member, message: tasks[index]!.message, join: { tool_use_id: call.id, index } });
  }
}

/** The index of a member, by name or id; a sentence if there is none. */
function findMember(state: SessionState, agent: Json | undefined): number | string {
  const { members } = state.created;
  const found = members.findIndex(({ id, name }) => name === agent || id === agent);
  if (found >= 0) return found;
  return `there is no agent ${JSON.stringify(agent ?? null)}: choose one of ${members.map(({ name }) => name).join(', ')}`;
}

function fullness(state: SessionState, more: number): string | null {
  const children = [...state.threads.values()].filter(({ parentId }) => parentId !== null);
  if (state.created.text_commands === true) return crowd(children, more);
  const live = children.filter(({ status }) => status !== 'terminated');
  if (live.length + more <= limits.liveChildrenMax) return null;
  return `${live.length} threads are alive and ${limits.liveChildrenMax} are allowed, so ${more} more cannot begin: go on with one of them by its thread_id`;
}

/** Where every delegation is a fresh thread, only those at work count. */
function crowd(children: readonly ThreadState[], more: number): string | null {
  const busy = children.filter(({ turn }) => turn !== null);
  if (busy.length + more <= limits.busyChildrenMax) return null;
  return `${busy.length} agents are at work and ${limits.busyChildrenMax} are allowed, so ${more} more cannot begin: wait for some of them`;
}

/** One for each task, as there would have been results. */
function refuseEach({ input }: Call, reason: string): Answer {
  const tasks = readTasks(input);
  if (typeof tasks === 'string' || tasks.length === 1) return refusal(reason);
  const texts = tasks.map(({ agent }, index) => `ERR: [${index + 1}/${tasks.length}] ${agent}: ${reason}`);
  return { content: texts.map((text) => ({ type: 'text', text })), isError: true };
}

function refusal(reason: string): Answer {
  return textAnswer(`ERR: ${reason}`, true);
}
