import type { Networking } from '@fleetloom/protocol/managed-agents';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { McpAuthorization } from '../../base/outgoing-http.ts';
import type { JsonObject } from '../../base/json/json.ts';
import { type FindProgram, findProgram as findOnPath } from '../find-program.ts';
import { createHostLauncher, type HostMounts } from '../host/server/host-launch.ts';
import { createHostTools } from '../host/server/host-tools.ts';
import { SessionHosts } from '../host/server/session-hosts.ts';
import { ToolHost } from '../host/server/tool-host.ts';
import { ToolHosts } from '../host/server/tool-hosts.ts';
import { createLimitOutput } from '../limit-output.ts';
import { createLocks } from '../locks.ts';
import { ConnectionSlots } from '../mcp/connection-slots.ts';
import type { McpHeaders } from '../mcp/mcp-connection.ts';
import { createMcpTools } from '../mcp/mcp-tools.ts';
import { toFreeName } from '../mcp/to-free-name.ts';
import { runSafely } from '../run-safely.ts';
import type { Tool } from '../tool.ts';
import { ToolFailure, throwIfInterrupted } from '../tool-failure.ts';
import { type ToolLimits, toToolLimits } from '../tool-limits.ts';
import type { OfferedTool, Toolbox, ToolProblem } from '../toolbox.ts';
import { toNetworkRules } from '../network/network-rules.ts';
import { chooseTool, toObject, toText } from '../toolset.ts';
import type { ResolveHost } from '../network/find-addresses.ts';
import { HostResolver } from '../network/host-resolver.ts';
import type { ReadShownUrls } from '../builtin/web-fetch/url-sources.ts';
import { hostTools as hostToolEntries, serverTools } from './registry.ts';

/** The options of a toolbox, as the operator of the server decides. Neither an agent nor a request can set them. */
export interface ToolboxOptions {
  /** Runs bash on the whole machine if there is no sandbox. By default bash is rejected then. */
  readonly allowUnsandboxedBash?: boolean | undefined;
  /** The network access of the session's environment; if absent, unrestricted. */
  readonly networking?: Networking | undefined;
  /** Restricts web_fetch to the hosts of the environment, too. */
  readonly strictNetwork?: boolean | undefined;
  /** Reads the URLs that have appeared in the session, for agents that may fetch only these. */
  readonly readShownUrls?: ReadShownUrls | undefined;
  /** Lets bash reach the network, this machine's own services included. */
  readonly allowBashNetwork?: boolean | undefined;
  /** Opens the mounts of the sandbox in addition to the workspace of the session, or to the worktree of a thread. */
  readonly openMounts?: ((worktreeOwner: string | null) => Promise<HostMounts>) | undefined;
  /** The resources that the tool hosts of all sessions share. If absent, this session has its own. */
  readonly hosts?: ToolHosts | undefined;
  /** The tenant of the session, which has a share of the tool hosts. */
  readonly findTenant?: (() => Promise<string | undefined>) | undefined;
  /** Counts the MCP connections of all sessions. Without it this session's connections are counted alone. */
  readonly mcpSlots?: ConnectionSlots | undefined;
  /** Directories that bash may also read. */
  readonly readOnlyPaths?: readonly string[] | undefined;
  /** Hosts that web_fetch and MCP may reach although they are private, as `host` or `host:port`. */
  readonly allowedPrivateHosts?: readonly string[] | undefined;
  /** Headers to send to MCP servers, such as `authorization`. */
  readonly mcpHeaders?: McpHeaders | undefined;
  /** The credentials of the session for its MCP servers, which are read again for each request. */
  readonly mcpAuthorization?: McpAuthorization | undefined;
  readonly clock?: Clock | undefined;
  readonly limits?: Partial<ToolLimits> | undefined;
  readonly findProgram?: FindProgram | undefined;
  /** Resolves the names that agents supply. */
  readonly resolveHost?: ResolveHost | undefined;
}

/**
 * The tools of one session.
 *
 * @example
 * const toolbox = createToolbox({ allowedPrivateHosts: ['docs.internal'] });
 * const { tools } = await toolbox.offer({ tools: [{ type: 'agent_toolset_20260401' }], mcp_servers: [] });
 */
export function createToolbox(options: ToolboxOptions = {}): Toolbox {
  const { clock = systemClock, findProgram = findOnPath, limits: changedLimits } = options;
  const { allowedPrivateHosts = [], resolveHost = new HostResolver().forSession() } = options;
  const limits = toToolLimits(changedLimits);
  const network = toNetworkRules(options.networking);
  // The network rules of an environment apply to its sandbox; web_fetch has rules of its own.
  const networkOfPages = options.strictNetwork === true ? network : toNetworkRules(undefined);
  const hosts = options.hosts ?? new ToolHosts({ limits: changedLimits, clock });
  const { openMounts } = options;
  const createLauncher = (worktreeOwner: string | null) =>
    createHostLauncher({
      openSandbox: async () =>
        await hosts.openSandbox({ findProgram, allowsNetwork, readOnlyPaths: options.readOnlyPaths }),
      allowsUnsandboxedBash: options.allowUnsandboxedBash ?? false,
      isNetworkLimited: network.isLimited,
      findProgram,
      limits,
      openMounts: openMounts === undefined ? undefined : () => openMounts(worktreeOwner),
    });
  // A sandbox has either the whole network or none. If only some hosts are allowed, it has none.
  const allowsNetwork = (options.allowBashNetwork ?? false) && !network.isLimited;
  const host = new SessionHosts((worktreeOwner) => {
    const launcher = createLauncher(worktreeOwner);
    return new ToolHost({ hosts, launcher, limits, changedLimits, clock, findTenant: options.findTenant });
  });
  const launcher = createLauncher(null);
  const hostTools = createHostTools({ tools: hostToolEntries, host, launcher, locks: createLocks(), limits });
  const limitOutput = createLimitOutput({ keep: hostTools.keep, clock, limits });
  const readShownUrls = options.readShownUrls ?? (async () => []);
  const openServerTools = serverTools.map(({ name, open }) => ({
    name,
    ...open({ clock, limits, allowedPrivateHosts, resolveHost, network: networkOfPages, readShownUrls }),
  }));
  const mcp = createMcpTools({
    headers: options.mcpHeaders,
    authorization: options.mcpAuthorization,
    clock,
    limits,
    slots: options.mcpSlots ?? new ConnectionSlots(),
    limitOutput,
    allowedPrivateHosts,
    resolveHost,
  });
  const builtins: readonly Builtin[] = [
    ...hostTools.tools.map((tool) => ({ name: tool.name, isSandboxed: true, toTool: () => tool })),
    ...openServerTools.map(({ name, toTool }) => ({ name, isSandboxed: false, toTool })),
  ];
  let isClosed = false;

  return {
    offer: async ({ tools: entries, mcp_servers: servers }) => {
      const parts = await Promise.all(entries.map((entry) => offerEntry(entry, servers)));
      const offered = parts.flatMap((part) => part.tools);
      return { tools: byName(offered, limits.toolNameCharsMax), problems: parts.flatMap((part) => part.problems) };
    },
    closeThread: async (threadId) => {
      for (const tool of openServerTools) tool.closeThread(threadId);
      await hostTools.closeThread(threadId);
    },
    close: async () => {
      isClosed = true;
      await Promise.all([hostTools.close(), mcp.close()]);
    },
  };

  async function offerEntry(entry: JsonObject, servers: readonly JsonObject[]): Promise<EntryOffer> {
    if (entry['type'] === 'agent_toolset_20260401') return { tools: offerBuiltins(entry), problems: [] };
    if (entry['type'] === 'mcp_toolset') return findFarServer(entry, servers) ?? (await mcp.offer(entry, servers));
    if (entry['type'] === 'custom') return { tools: [offerCustom(entry)], problems: [] };
    // The route rejects other types, but it may be newer than this code.
    return { tools: [], problems: [] };
  }

  /** The problem for a server that the environment's network does not allow, to which no request is sent. */
  function findFarServer(entry: JsonObject, servers: readonly JsonObject[]): EntryOffer | undefined {
    const serverName = toText(entry['mcp_server_name']);
    const server = servers.find(({ name }) => name === serverName);
    if (server === undefined || network.allowsMcpServer(toText(server['url']))) return undefined;
    const message = `the environment of this session limits its network, and ${serverName} is not part of it`;
    return { tools: [], problems: [{ type: 'mcp_connection_failed', serverName, message }] };
  }

  function offerBuiltins(toolset: JsonObject): [string, OfferedTool][] {
    return builtins.map(({ name, isSandboxed, toTool }) => {
      const { isEnabled, permission, config } = chooseTool(toolset, name, 'allow');
      const tool = toTool(config);
      const { description, inputSchema } = tool;
      return [
        name,
        {
          kind: 'builtin',
          name,
          permission,
          isEnabled,
          isSandboxed,
          description,
          inputSchema,
          run: async (input, context) => {
            return await runSafely(name, async () => {
              if (isClosed) throw new ToolFailure('the session is closed');
              if (!isEnabled) throw new ToolFailure('this tool is switched off');
              throwIfInterrupted(context.signal);
              return await limitOutput(name, await tool.run(input, context), context);
            });
          },
        },
      ];
    });
  }
}

interface EntryOffer {
  readonly tools: readonly (readonly [string, OfferedTool])[];
  readonly problems: readonly ToolProblem[];
}

interface Builtin {
  readonly name: string;
  readonly isSandboxed: boolean;
  readonly toTool: (config: JsonObject) => Tool;
}

/**
 * Of two tools with the same name the first one counts. Agents cannot choose the names of MCP tools, so the second of two
 * servers' tools with the same name gets a number.
 */
function byName(offered: EntryOffer['tools'], charsMax: number): Map<string, OfferedTool> {
  const tools = new Map<string, OfferedTool>();
  for (const [name, tool] of offered) {
    const before = tools.get(name);
    const isOther = before !== undefined && tool.kind === 'mcp' && !isOfServer(before, tool.serverName);
    const free = isOther ? toFreeName(name, (taken) => tools.has(taken), charsMax) : name;
    if (!tools.has(free)) tools.set(free, tool);
  }
  return tools;
}

function isOfServer(tool: OfferedTool, serverName: string): boolean {
  return tool.kind === 'mcp' && tool.serverName === serverName;
}

function offerCustom(entry: JsonObject): [string, OfferedTool] {
  const name = toText(entry['name']);
  const [description, inputSchema] = [toText(entry['description']), toObject(entry['input_schema'])];
  return [name, { kind: 'custom', name, description, inputSchema, isEnabled: true }];
}
