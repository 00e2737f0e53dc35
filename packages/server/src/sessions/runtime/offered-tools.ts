import type { Toolbox, ToolOffer, ToolOwner } from '../../tools/toolbox.ts';
import { agentOf } from '../core/state/agent-of.ts';
import type { OfferedTools } from './run-request.ts';

/**
 * The tools that are offered to the agents of a session. A problem is reported once and again when it changes: an unreachable
 * MCP server would otherwise be reported before every model request.
 */
export function createOfferedTools(toolbox: Toolbox): OfferedTools {
  const reported = new Set<string>();
  return {
    get: async (state, thread): Promise<ToolOffer> => {
      const { tools, mcp_servers } = agentOf(state, thread);
      // The route checked it as plain JSON; the toolbox has types of its own.
      const { problems, ...offer } = await toolbox.offer({ tools, mcp_servers } as unknown as ToolOwner);
      const isNew = ({ type, serverName, message }: ToolOffer['problems'][number]) => {
        const key = `${thread.id} ${type} ${serverName} ${message}`;
        return !reported.has(key) && reported.add(key).size > 0;
      };
      return { ...offer, problems: problems.filter(isNew) };
    },
  };
}
