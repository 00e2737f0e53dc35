import { delegationToolNames } from '../agents/check-tools.ts';
import { limits } from '../base/limits.ts';
import type { ToolDefinition } from '../engines/engine.ts';
import type { SessionState, ThreadState } from './state.ts';

/** What a coordinator is offered. Agents without members, and those at the bottom, are offered nothing. */
export function delegationTools(state: SessionState, thread: ThreadState): readonly ToolDefinition[] {
  return state.created.members.length > 0 && thread.depth < state.created.depth_max ? tools : [];
}

/**
 * Whether the session itself answers the call. Also where it was not offered: the answer then says why not. Unless the
 * agent has a tool of its own by that name, which only those may have who cannot delegate.
 */
export function isDelegation(state: SessionState, thread: ThreadState, name: string, hasOwn: boolean): boolean {
  if (state.created.members.length === 0 || !delegationToolNames.some((known) => known === name)) return false;
  return !hasOwn || delegationTools(state, thread).length > 0;
}

const agentSchema = { type: 'string', description: 'The name of the agent, as list_agents shows it.' };
const messageSchema = { type: 'string', description: 'The task, with all it needs to know: it sees nothing else.' };

/** By the names that agents keep free for them. */
const definitions: Record<(typeof delegationToolNames)[number], Omit<ToolDefinition, 'name'>> = {
  list_agents: {
    description: 'Lists the agents you can delegate to, what each is for, and the threads in which they work for you.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  },
  send_to_agent: {
    description:
      'Gives an agent a task and returns at once. It works beside you, and its report comes as a message later; you may end your turn meanwhile. With thread_id it goes on in a thread that knows what it did before.',
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
    description: `Gives out 1 to ${limits.delegateTasksMax} tasks that are worked on at the same time, waits for all, and returns their results in the order of the tasks.`,
    inputSchema: {
      type: 'object',
      properties: {
        tasks: {
          type: 'array',
          minItems: 1,
          maxItems: limits.delegateTasksMax,
          items: {
            type: 'object',
            properties: { agent: agentSchema, message: messageSchema },
            required: ['agent', 'message'],
            additionalProperties: false,
          },
        },
      },
      required: ['tasks'],
      additionalProperties: false,
    },
  },
};

const tools = delegationToolNames.map((name) => ({ name, ...definitions[name] }));
