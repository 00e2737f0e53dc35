import {
  Client,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  StreamableHTTPClientTransport,
  type Tool,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import type { ToolResult } from '../tool.ts';
import { Interrupted, ToolFailure } from '../tool-failure.ts';
import type { ToolLimits } from '../tool-limits.ts';
import type { ToolProblem } from '../toolbox.ts';
import { toObject } from '../toolset.ts';
import { isAuthenticationError, isConnectionError, toMessage, wasNotReceived } from './mcp-errors.ts';
import { toToolResult } from './mcp-result.ts';
import { watchAnswers } from './watch-answers.ts';

export interface McpServer {
  readonly name: string;
  readonly url: string;
}

/** What to send along with each request to a server, such as `authorization`. */
export type McpHeaders = (server: McpServer) => Promise<Readonly<Record<string, string>>>;

export interface McpConnectionOptions {
  readonly server: McpServer;
  readonly headers: McpHeaders;
  readonly clock: Clock;
  readonly limits: ToolLimits;
}

/** One server, for all agents of a session. Connects when it is needed, and again when it was lost. */
export class McpConnection {
  readonly #options: McpConnectionOptions;
  /** There, or on its way. */
  #link: Promise<Link> | undefined;
  /** Who failed is left alone for a while: an offer is made for every turn, and each would wait for it. */
  #failure: { readonly problem: ToolProblem; readonly atMs: number } | undefined;
  /** Of no use any more, except to whoever is in the middle of a call. */
  readonly #retired = new Set<Link>();
  #isClosed = false;

  constructor(options: McpConnectionOptions) {
    this.#options = options;
  }

  /** What the server can do, or why that is not known. */
  async listTools(): Promise<{ tools: readonly Tool[] } | { problem: ToolProblem }> {
    const { clock, limits } = this.#options;
    if (this.#failure !== undefined && clock.steady() - this.#failure.atMs < limits.mcpRetryMs) {
      return { problem: this.#failure.problem };
    }
    const link = this.#connect();
    try {
      const tools = await (await link).tools();
      this.#failure = undefined;
      return { tools };
    } catch (error) {
      await this.#disconnect(link);
      const problem = toProblem(this.#options.server, error);
      this.#failure = { problem, atMs: clock.steady() };
      return { problem };
    }
  }

  /** Throws a {@link ToolFailure} when there is no answer. */
  async call(name: string, input: Json, signal: AbortSignal): Promise<ToolResult> {
    const first = await this.#tryCall(name, input, signal);
    if (first.type === 'result') return first.result;
    // Once more, with a new connection, and only what did certainly not happen yet.
    const second = wasNotReceived(first.error) ? await this.#tryCall(name, input, signal) : first;
    if (second.type === 'result') return second.result;
    throw toFailure(this.#options.server, second.error);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const link = this.#link;
    this.#link = undefined;
    const links = [...this.#retired, await link?.catch(() => undefined)];
    await Promise.all(links.map(async (each) => await each?.close()));
  }

  async #tryCall(
    name: string,
    input: Json,
    signal: AbortSignal,
  ): Promise<{ type: 'result'; result: ToolResult } | { type: 'error'; error: unknown }> {
    const link = this.#connect();
    try {
      return { type: 'result', result: await (await untilAborted(link, signal)).call(name, input, signal) };
    } catch (error) {
      if (signal.aborted) throw new Interrupted();
      if (isConnectionError(error)) await this.#disconnect(link);
      return { type: 'error', error };
    }
  }

  #connect(): Promise<Link> {
    this.#link ??= this.#isClosed ? Promise.reject(new ToolFailure('the session is closed')) : openLink(this.#options);
    return this.#link;
  }

  /**
   * Nobody begins with this one any more; there may be a new one already. It is closed when nobody is in the middle of
   * a call: for other agents it may still be good.
   */
  async #disconnect(link: Promise<Link>): Promise<void> {
    if (this.#link === link) this.#link = undefined;
    const opened = await link.catch(() => undefined);
    if (opened === undefined || this.#retired.has(opened)) return;
    this.#retired.add(opened);
    void opened.idle().then(async () => {
      await opened.close();
      this.#retired.delete(opened);
    });
  }
}

/** A connection that is there. */
interface Link {
  tools(): Promise<readonly Tool[]>;
  call(name: string, input: Json, signal: AbortSignal): Promise<ToolResult>;
  /** When nobody is in the middle of a call. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

async function openLink({ server, headers, limits }: McpConnectionOptions): Promise<Link> {
  if (!URL.canParse(server.url)) throw new ToolFailure(`${server.url} is not an address`);
  const answers = watchAnswers({ bytesMax: limits.mcpAnswerBytesMax, resumeMs: limits.mcpResumeMs });
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: { ...(await headers(server)) } },
    fetch: async (url, init) => await answers.fetch(url, init),
  });
  /** Asked for once, and again after the server says that there are others. */
  let list: Promise<readonly Tool[]> | undefined;
  const calls = new Set<Promise<ToolResult>>();
  const client = new Client(CLIENT, {
    capabilities: {},
    // Asks first what the server speaks, so that old ones and new ones are understood.
    versionNegotiation: { mode: 'auto' },
    listMaxPages: limits.mcpListPagesMax,
    listChanged: {
      tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void (list = undefined) },
    },
    jsonSchemaValidator: UNCHECKED,
  });
  try {
    await client.connect(transport, { timeout: limits.mcpConnectMs });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    tools: async () => {
      list ??= listTools(client, limits);
      return await list;
    },
    call: async (name, input, signal) => {
      const running = answers.follow(async (stop) => {
        const options = { signal: AbortSignal.any([signal, stop]), timeout: limits.mcpCallMs };
        return toToolResult(await client.callTool({ name, arguments: { ...toObject(input) } }, options));
      });
      calls.add(running);
      return await running.finally(() => calls.delete(running));
    },
    idle: async () => {
      while (calls.size > 0) await Promise.allSettled(calls);
    },
    close,
  };

  async function close(): Promise<void> {
    // Politeness that a dead server does not answer; nobody waits long for it.
    await Promise.race([transport.terminateSession().catch(() => {}), pause(FAREWELL_MS)]);
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
  }
}

const CLIENT = { name: 'fleetloom', version: '0.1.0' };
const FAREWELL_MS = 1_000;

/** Results are shown to a model, which takes what it gets; schemas of strangers are not compiled here. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    // Nobody of us relies on the type.
    return (data) => ({ valid: true, data: data as Value, errorMessage: undefined });
  },
};

async function listTools(client: Client, { mcpConnectMs, mcpToolsMax }: ToolLimits): Promise<readonly Tool[]> {
  const { tools } = await client.listTools({}, { timeout: mcpConnectMs });
  return tools.slice(0, mcpToolsMax);
}

async function pause(ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

async function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  if (signal.aborted) throw new Interrupted();
  return await new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Interrupted());
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function toProblem({ name, url }: McpServer, error: unknown): ToolProblem {
  if (isAuthenticationError(error)) {
    const message = `The MCP server ${name} at ${url} does not let us in: ${toMessage(error)}`;
    return { type: 'mcp_authentication_failed', serverName: name, message };
  }
  const message = `The MCP server ${name} at ${url} cannot be reached: ${toMessage(error)}`;
  return { type: 'mcp_connection_failed', serverName: name, message };
}

function toFailure(server: McpServer, error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error;
  if (!isConnectionError(error)) return new ToolFailure(toMessage(error), { cause: error });
  const doubt =
    wasNotReceived(error) || isAuthenticationError(error) ? '' : '. Whether the call was carried out is not known';
  return new ToolFailure(`${toProblem(server, error).message}${doubt}`, { cause: error });
}
