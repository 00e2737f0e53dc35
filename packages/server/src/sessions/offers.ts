import type { Toolbox, ToolOffer, ToolOwner } from '../tools/toolbox.ts';
import { agentOf } from './agent-of.ts';
import type { Offers } from './run-request.ts';

/**
 * What the agents of a session may use. A problem is told once: it comes back only when it has changed, as a server that
 * cannot be reached would otherwise be complained about before every request.
 */
export function createOffers(toolbox: Toolbox): Offers {
  const told = new Set<string>();
  return {
    get: async (state, thread): Promise<ToolOffer> => {
      const { tools, mcp_servers } = agentOf(state, thread);
      // What the door has checked is plain JSON; the toolbox reads it by its own types.
      const { problems, ...offer } = await toolbox.offer({ tools, mcp_servers } as unknown as ToolOwner);
      const isNew = ({ type, serverName, message }: ToolOffer['problems'][number]) => {
        const key = `${thread.id} ${type} ${serverName} ${message}`;
        return !told.has(key) && told.add(key).size > 0;
      };
      return { ...offer, problems: problems.filter(isNew) };
    },
  };
}
