import type { Clock } from '../../base/clock.ts';
import type { McpAuthorization } from '../../base/outgoing-http.ts';
import { ignoringFailure } from '../../base/in-background.ts';
import type { JsonObject } from '../../base/json/json.ts';
import type { LimitOutput } from '../limit-output.ts';
import { runSafely } from '../run-safely.ts';
import { ToolFailure } from '../tool-failure.ts';
import type { ToolLimits } from '../tool-limits.ts';
import type { OfferedTool, ToolProblem } from '../toolbox.ts';
import { chooseTool, toText } from '../toolset.ts';
import type { AddressRules } from '../network/find-addresses.ts';
import type { ConnectionSlots } from './connection-slots.ts';
import type { McpTool } from './list-tools.ts';
import type { McpConnection, McpHeaders, McpServer } from './mcp-connection.ts';
import { toFreeName } from './to-free-name.ts';

export interface McpToolsOptions extends AddressRules {
  readonly headers?: McpHeaders | undefined;
  readonly authorization?: McpAuthorization | undefined;
  readonly clock: Clock;
  readonly limits: ToolLimits;
  readonly slots: ConnectionSlots;
  readonly limitOutput: LimitOutput;
}

/** The tools of all MCP servers of a session. */
export interface McpTools {
  /** The tools of a toolset, by the names that the model uses. */
  offer(toolset: JsonObject, servers: readonly JsonObject[]): Promise<McpOffer>;
  close(): Promise<void>;
}

/** The tools of a toolset, and why some servers have none. */
export interface McpOffer {
  readonly tools: readonly (readonly [string, OfferedTool])[];
  readonly problems: readonly ToolProblem[];
}

/** Creates the tools of MCP servers. Agents that name the same server with the same URL share its connection. */
export function createMcpTools(options: McpToolsOptions): McpTools {
  const { headers = async () => ({}), limitOutput, ...shared } = options;
  const { limits } = shared;
  const connections = new Map<string, McpConnection>();
  let isClosed = false;

  return {
    offer: async (toolset, servers) => {
      const name = toText(toolset['mcp_server_name']);
      const entry = servers.find((server) => server['name'] === name);
      if (entry === undefined) return { tools: [], problems: [toUnknown(name)] };
      const connection = await openConnection({ name, url: toText(entry['url']) });
      const listed = await connection.listTools();
      if ('problem' in listed) return { tools: [], problems: [listed.problem] };
      const tools = new Map<string, OfferedTool>();
      for (const tool of listed.tools) {
        const wanted = `mcp__${name}__${tool.name}`.replace(UNFIT, '_');
        const free = toFreeName(wanted, (taken) => tools.has(taken), limits.toolNameCharsMax);
        tools.set(free, toOffered(tool, name, toolset, connection));
      }
      return { tools: [...tools], problems: [] };
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...connections.values()].map((connection) => connection.close()));
    },
  };

  async function openConnection(server: McpServer): Promise<McpConnection> {
    // The MCP library is loaded by the first agent with a server: most sessions have none.
    const { McpConnection: Connection } = await import('./mcp-connection.ts');
    const key = JSON.stringify([server.name, server.url]);
    const connection = connections.get(key) ?? new Connection({ ...shared, server, headers });
    connections.set(key, connection);
    // Nothing is open yet, so closing need not be awaited; it prevents the connection from opening.
    if (isClosed) ignoringFailure(connection.close());
    return connection;
  }

  function toOffered(tool: McpTool, serverName: string, toolset: JsonObject, connection: McpConnection): OfferedTool {
    const { name, description, inputSchema } = tool;
    const { isEnabled, permission } = chooseTool(toolset, name, 'ask');
    return {
      kind: 'mcp',
      name,
      serverName,
      permission,
      isEnabled,
      description,
      inputSchema,
      run: async (input, context) => {
        return await runSafely(name, async () => {
          if (!isEnabled) throw new ToolFailure('this tool is switched off');
          const result = await connection.call(name, input, context.signal);
          return await limitOutput(name.replace(UNFIT, '_'), result, context);
        });
      },
    };
  }
}

function toUnknown(name: string): ToolProblem {
  const message = `There is no MCP server ${name}: name it in mcp_servers of the agent`;
  return { type: 'mcp_connection_failed', serverName: name, message };
}

/** Characters that tool names for models must not have. Names of servers and their tools may have any characters. */
const UNFIT = /[^a-zA-Z0-9_-]/g;
