import { Client, type JsonSchemaValidator, type jsonSchemaValidator } from '@modelcontextprotocol/client';
import type { Clock } from '../../base/clock.ts';
import type { McpAuthorization } from '../../base/outgoing-http.ts';
import type { Json } from '../../base/json/json.ts';
import type { ToolResult } from '../tool.ts';
import { ToolFailure } from '../tool-failure.ts';
import type { ToolLimits } from '../tool-limits.ts';
import { toObject } from '../toolset.ts';
import type { AddressRules } from '../network/find-addresses.ts';
import type { ConnectionSlots } from './connection-slots.ts';
import { listTools, type McpTool } from './list-tools.ts';
import { unwrapFault } from './mcp-errors.ts';
import { McpFault } from './mcp-fault.ts';
import { createMcpFetch } from './mcp-fetch.ts';
import { toToolResult } from './mcp-result.ts';
import { McpTransport } from './mcp-transport.ts';
import type { Allowance } from './message-guard.ts';
import { createStreamRetries } from './stream-retries.ts';

export interface OpenLinkOptions extends AddressRules {
  readonly url: string;
  /** Headers to send with each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The credential of each request. */
  readonly authorization?: McpAuthorization | undefined;
  readonly clock: Pick<Clock, 'steady'>;
  readonly limits: ToolLimits;
  /** Shared by all sessions of a server. */
  readonly slots: ConnectionSlots;
  /** Aborts connecting and listing when the connection is closed. */
  readonly signal: AbortSignal;
}

/** An open connection. */
export interface Link {
  tools(): Promise<readonly McpTool[]>;
  call(name: string, input: Json, signal: AbortSignal): Promise<ToolResult>;
  /** Resolves when no call is in progress. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Connects to an MCP server, within the limit of connections of the whole process. */
export async function openLink({ slots, ...options }: OpenLinkOptions): Promise<Link> {
  const freeSlot = slots.take(options.limits.mcpConnectionsMax);
  try {
    const link = await connect(options);
    let closing: Promise<void> | undefined;
    return { ...link, close: async () => await (closing ??= link.close().finally(freeSlot)) };
  } catch (error) {
    freeSlot();
    throw error;
  }
}

async function connect({
  url,
  headers,
  authorization,
  clock,
  limits,
  signal,
  ...rules
}: Omit<OpenLinkOptions, 'slots'>): Promise<Link> {
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw new ToolFailure(`${url} is not an address of a server: use http: or https:`);
  }
  const onFault = (found: McpFault) => (fault ??= found);
  const fetch = createMcpFetch({ ...rules, limits, clock, serverUrl: url, authorization, onFault });
  const retries = createStreamRetries({ limits, clock, isInExchange: () => fetch.current() !== undefined });
  const reconnectionScheduler = (reconnect: () => void, askedMs: number) => retries.schedule(reconnect, askedMs);
  const transport = new McpTransport({ url: new URL(url), headers, fetch, reconnectionScheduler });
  /** Why the connection must not be used any more. */
  let fault: McpFault | undefined;
  /** The tools, requested once, and again after the server has notified a change. */
  let list: Promise<readonly McpTool[]> | undefined;
  const calls = new Set<Promise<ToolResult>>();
  const client = new Client(CLIENT, {
    capabilities: {},
    // Negotiates the protocol version first, so that old and new servers are supported.
    versionNegotiation: { mode: 'auto' },
    listChanged: {
      tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void (list = undefined) },
    },
    // Disabled, because a server that requires more input would be called again and again.
    inputRequired: { autoFulfill: false },
    jsonSchemaValidator: UNCHECKED,
  });
  try {
    const allowance = toAllowance(limits.mcpHandshakeBytesMax, limits.mcpHandshakeValuesMax);
    await fetch.exchange({ allowance, withinMs: limits.mcpSetupMs, signal }, async (exchange) => {
      await client.connect(transport, { timeout: limits.mcpConnectMs, signal: exchange.signal });
    });
  } catch (error) {
    await close();
    throw unwrapFault(error);
  }
  return {
    tools: async () => {
      if (fault !== undefined) throw fault;
      list ??= findTools();
      return await list;
    },
    call: async (name, input, interrupt) => {
      if (fault !== undefined) throw new McpFault(fault.kind, fault.message, { wasSent: false });
      const running = call(name, input, interrupt);
      calls.add(running);
      return await running.finally(() => calls.delete(running));
    },
    idle: async () => {
      while (calls.size > 0) await Promise.allSettled(calls);
    },
    close,
  };

  async function findTools(): Promise<readonly McpTool[]> {
    const allowance = toAllowance(limits.mcpListBytesMax, limits.mcpAnswerValuesMax);
    const options = { allowance, withinMs: limits.mcpSetupMs, signal };
    return await fetch.exchange(options, async (exchange) => await listTools(client, exchange, limits));
  }

  async function call(name: string, input: Json, interrupt: AbortSignal): Promise<ToolResult> {
    const { mcpCallMs: timeout, mcpConnectMs, mcpResumeMs: resumeMs } = limits;
    const known = (await list?.catch(() => undefined))?.find((tool) => tool.name === name);
    const allowance = toAllowance(limits.mcpAnswerBytesMax, limits.mcpAnswerValuesMax);
    // The timeout of the library comes first; this limit covers its work before and after the call.
    const options = { allowance, withinMs: timeout + mcpConnectMs, resumeMs, signal: interrupt };
    return await fetch.exchange(options, async (exchange) => {
      // The definition determines headers that repeat parts of the input. Without it the library would request the list again.
      const toolDefinition = { ...known, name, inputSchema: { ...known?.inputSchema, type: 'object' as const } };
      const request = { name, arguments: { ...toObject(input) } };
      await client.callTool(request, { signal: exchange.signal, timeout, toolDefinition });
      return toToolResult(exchange.take(), limits);
    });
  }

  async function close(): Promise<void> {
    // Optional in the protocol, so the wait for the server is short.
    await Promise.race([transport.terminateSession().catch(() => {}), pause(FAREWELL_MS)]);
    retries.close();
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
    fetch.close();
  }
}

const CLIENT = { name: 'fleetloom', version: '0.1.0' };
const FAREWELL_MS = 1_000;

/** A validator that accepts everything: results are passed to a model unchanged, and output schemas of servers are not compiled. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    // No caller relies on the type.
    return (data) => ({ valid: true, data: data as Value, errorMessage: undefined });
  },
};

function toAllowance(bytesMax: number, valuesMax: number): Allowance {
  return { bytesMax, bytes: bytesMax, valuesMax, values: valuesMax };
}

async function pause(ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
