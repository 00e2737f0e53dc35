import { MERGE_TOOL } from '@fleetloom/protocol/managed-agents';
import { delegationToolNames } from '../../../agents/check-tools.ts';
import { sessionLimits } from '../limits.ts';
import type { ToolDefinition } from '../../../engines/model/engine.ts';
import type { JsonObject } from '../../../base/json/json.ts';
import { isForeign, isProgramThread } from '../state/program-threads.ts';
import type { SessionState, ThreadState } from '../state/state.ts';

/** The delegation tools of a thread; none without agents to delegate to or at the deepest level. */
export function delegationTools(state: SessionState, thread: ThreadState): readonly ToolDefinition[] {
  if (delegatesOf(state, thread).length === 0 || thread.depth >= state.created.depth_max) return [];
  return state.created.is_recorded === true ? recordedTools : tools;
}

/**
 * The roster members that a thread delegates to through the session, by their index. A program runs the others itself, as its own
 * sub-agents.
 */
export function delegatesOf(state: SessionState, thread: ThreadState): readonly number[] {
  const all = [...state.created.members.keys()];
  return isProgramThread(state, thread) ? all.filter((member) => isForeign(state, thread, member)) : all;
}

/**
 * Whether the call is a delegation call, which the session runs itself. Also where the tool was not offered: the result then
 * has the reason. An agent that cannot delegate may have a tool of its own by that name.
 */
export function isDelegation(state: SessionState, thread: ThreadState, name: string, hasOwn: boolean): boolean {
  if (delegatesOf(state, thread).length === 0 || !isOwnName(state, name)) return false;
  return !hasOwn || delegationTools(state, thread).length > 0;
}

/** Without recorded files there is nothing to merge. */
function isOwnName({ created }: SessionState, name: string): boolean {
  return isDelegationName(name) && (name !== MERGE_TOOL || created.is_recorded === true);
}

/** Whether a name is that of a delegation tool. */
export function isDelegationName(name: string): boolean {
  return name === MERGE_TOOL || delegationToolNames.some((known) => known === name);
}

const agentSchema = { type: 'string', description: 'The name of the agent, as list_agents shows it.' };
const messageSchema = { type: 'string', description: 'The task, with all it needs to know: it sees nothing else.' };

/** By the reserved tool names. */
const toDefinitions = (
  task: JsonObject,
): Record<(typeof delegationToolNames)[number], Omit<ToolDefinition, 'name'>> => ({
  list_agents: {
    description: 'Lists the agents you can delegate to, what each is for, and the threads in which they work for you.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  },
  send_to_agent: {
    description:
      'Gives an agent a task and returns at once. It works beside you, and its report comes as a message later; you may end your turn in the meantime. With thread_id it goes on in a thread that knows what it did before.',
    inputSchema: {
      type: 'object',
      properties: {
        agent: agentSchema,
        message: messageSchema,
        thread_id: { type: 'string', description: 'A thread of this agent to go on with. Left out: a new one.' },
      },
      required: ['agent', 'message'],
      additionalProperties: false,
    },
  },
  delegate: {
    description: `Gives out 1 to ${sessionLimits.delegateTasksMax} tasks that are worked on at the same time, waits for all, and returns their results in the order of the tasks.`,
    inputSchema: {
      type: 'object',
      properties: {
        tasks: {
          type: 'array',
          minItems: 1,
          maxItems: sessionLimits.delegateTasksMax,
          items: {
            type: 'object',
            properties: { agent: agentSchema, message: messageSchema, ...task },
            required: ['agent', 'message'],
            additionalProperties: false,
          },
        },
      },
      required: ['tasks'],
      additionalProperties: false,
    },
  },
});

function toTools(task: JsonObject): ToolDefinition[] {
  const definitions = toDefinitions(task);
  return delegationToolNames.map((name) => ({ name, ...definitions[name] }));
}

const tools: readonly ToolDefinition[] = toTools({});

const isolationSchema = {
  type: 'string',
  enum: ['worktree', 'shared'],
  description:
    'worktree: it works on a copy of the files as they are now, in a git worktree of its own, and you take its changes with merge_changes. shared: in your workspace. Left out: as its roster says, else shared.',
};

/** The tools of sessions whose files are recorded. */
const recordedTools: readonly ToolDefinition[] = [
  ...toTools({ isolation: isolationSchema }),
  {
    name: MERGE_TOOL,
    description:
      'Merges what an agent has changed in a worktree of its own into your workspace, three-way. A conflict is an error that lists the files and the lines, and nothing is written. Changes that were merged before are not merged again.',
    inputSchema: {
      type: 'object',
      properties: { thread_id: { type: 'string', description: 'The thread of the agent, as its result names it.' } },
      required: ['thread_id'],
      additionalProperties: false,
    },
  },
];
