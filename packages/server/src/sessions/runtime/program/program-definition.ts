import type { CustomTool, CustomToolInputSchema } from '@fleetloom/protocol/managed-agents';
import type { ToolDefinition } from '../../../engines/model/engine.ts';
import type { ProgramOptions } from '../../../engines/program/program.ts';
import { delegationTools } from '../../core/delegation/delegation-tools.ts';
import { agentOf } from '../../core/state/agent-of.ts';
import { isForeign } from '../../core/state/program-threads.ts';
import type { SessionState, ThreadState } from '../../core/state/state.ts';

/** What a program runs, and the thread that it runs for. */
export type ProgramDefinition = Pick<ProgramOptions, 'sessionId' | 'threadId' | 'agent' | 'members'>;

/**
 * What the program of a thread runs: the agent of the thread, and the roster members that are its sub-agents. The agent has tools with
 * which it delegates to members that other programs run.
 */
export function toProgramDefinition(state: SessionState, root: ThreadState): ProgramDefinition {
  const { members, depth_max: depthMax } = state.created;
  const agent = agentOf(state, root);
  const tools = delegationTools(state, root).map(toCustomTool);
  return {
    sessionId: state.id,
    threadId: root.parentId === null ? undefined : root.id,
    agent: tools.length === 0 ? agent : { ...agent, tools: [...agent.tools, ...tools] },
    members: root.depth >= depthMax ? [] : members.filter((_, member) => !isForeign(state, root, member)),
  };
}

/** Programs offer custom tools to their models, and wait for the results. */
function toCustomTool({ name, description, inputSchema }: ToolDefinition): CustomTool {
  // The cast: the schemas of delegation tools are objects.
  return { type: 'custom', name, description, input_schema: inputSchema as unknown as CustomToolInputSchema };
}
