import { untilAborted } from '../../base/until-aborted.ts';
import type { Clock } from '../../base/clock.ts';
import type { McpAuthorization } from '../../base/outgoing-http.ts';
import { ignoringFailure } from '../../base/in-background.ts';
import type { Json } from '../../base/json/json.ts';
import type { ToolResult } from '../tool.ts';
import { Interrupted, ToolFailure } from '../tool-failure.ts';
import type { ToolLimits } from '../tool-limits.ts';
import type { ToolProblem } from '../toolbox.ts';
import type { AddressRules } from '../network/find-addresses.ts';
import { isAuthenticationError, isConnectionError, toReason, toRefusal, wasNotReceived } from './mcp-errors.ts';
import type { ConnectionSlots } from './connection-slots.ts';
import type { McpTool } from './list-tools.ts';
import { McpFault } from './mcp-fault.ts';
import { type Link, openLink } from './open-link.ts';

export interface McpServer {
  readonly name: string;
  readonly url: string;
}

/** Headers to send with each request to a server, such as `authorization`. */
export type McpHeaders = (server: McpServer) => Promise<Readonly<Record<string, string>>>;

export interface McpConnectionOptions extends AddressRules {
  readonly server: McpServer;
  readonly headers: McpHeaders;
  /** The credentials of the session. */
  readonly authorization?: McpAuthorization | undefined;
  readonly clock: Clock;
  readonly limits: ToolLimits;
  readonly slots: ConnectionSlots;
}

/** The connection to one server, for all agents of a session. Connects when needed, and again after the connection was lost. */
export class McpConnection {
  readonly #options: McpConnectionOptions;
  /** The open or opening link. */
  #link: Promise<Link> | undefined;
  /** The last failure. A failed server is not tried again for a while: every turn lists tools, and each would wait for it. */
  #failure: { readonly problem: ToolProblem; readonly atMs: number; readonly version: string | undefined } | undefined;
  /** Broken or replaced links, which only calls in progress may still use. */
  readonly #retired = new Set<Link>();
  readonly #closing = new AbortController();

  constructor(options: McpConnectionOptions) {
    this.#options = options;
  }

  /** The tools of the server, or the reason why they are not known. */
  async listTools(): Promise<{ tools: readonly McpTool[] } | { problem: ToolProblem }> {
    const { clock, limits } = this.#options;
    const failure = this.#failure;
    if (failure !== undefined && clock.steady() - failure.atMs < limits.mcpRetryMs) {
      // If the credential has changed in the meantime, the server is tried again at once.
      const isSame =
        failure.problem.type !== 'mcp_authentication_failed' || failure.version === (await this.#version());
      if (isSame) return { problem: failure.problem };
    }
    const link = this.#connect();
    try {
      const tools = await (await link).tools();
      this.#failure = undefined;
      return { tools };
    } catch (error) {
      await this.#disconnect(link);
      const problem = toProblem(this.#options.server, error);
      this.#failure = { problem, atMs: clock.steady(), version: await this.#version() };
      return { problem };
    }
  }

  /** Calls a tool. Throws a {@link ToolFailure} if there is no response. */
  async call(name: string, input: Json, signal: AbortSignal): Promise<ToolResult> {
    const first = await this.#tryCall(name, input, signal);
    if (first.type === 'result') return first.result;
    // Retries once with a new connection, and only a call that certainly did not take effect.
    const second = wasNotReceived(first.error) ? await this.#tryCall(name, input, signal) : first;
    if (second.type === 'result') return second.result;
    throw toFailure(this.#options.server, second.error);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const link = this.#link;
    this.#link = undefined;
    const links = [...this.#retired, await link?.catch(() => undefined)];
    await Promise.all(links.map(async (each) => await each?.close()));
  }

  /** The version of the credential. Undefined also if it cannot be read: the request itself reports the reason. */
  async #version(): Promise<string | undefined> {
    const { authorization, server } = this.#options;
    return await authorization?.version(server.url).catch(() => undefined);
  }

  async #tryCall(
    name: string,
    input: Json,
    signal: AbortSignal,
  ): Promise<{ type: 'result'; result: ToolResult } | { type: 'error'; error: unknown }> {
    const link = this.#connect();
    try {
      return {
        type: 'result',
        result: await (await untilAborted(link, signal, () => new Interrupted())).call(name, input, signal),
      };
    } catch (error) {
      if (signal.aborted) throw new Interrupted();
      if (isConnectionError(error)) await this.#disconnect(link);
      return { type: 'error', error };
    }
  }

  #connect(): Promise<Link> {
    this.#link ??= this.#closing.signal.aborted
      ? Promise.reject(new ToolFailure('the session is closed'))
      : this.#open();
    return this.#link;
  }

  async #open(): Promise<Link> {
    const { server, headers, ...rest } = this.#options;
    return await openLink({ ...rest, url: server.url, headers: await headers(server), signal: this.#closing.signal });
  }

  /**
   * Retires a link: new calls use another one, which may exist already. The link is closed when its last call has ended, because
   * it may still work for the calls of other agents.
   */
  async #disconnect(link: Promise<Link>): Promise<void> {
    if (this.#link === link) this.#link = undefined;
    const opened = await link.catch(() => undefined);
    if (opened === undefined || this.#retired.has(opened)) return;
    this.#retired.add(opened);
    ignoringFailure(
      opened.idle().then(async () => {
        await opened.close();
        this.#retired.delete(opened);
      }),
    );
  }
}

function toProblem({ name, url }: McpServer, error: unknown): ToolProblem {
  if (isAuthenticationError(error)) {
    const reason = toReason(error);
    const message = `The MCP server ${name} at ${url} rejects the request: ${reason}. Store a token that it accepts in a vault of the session`;
    return { type: 'mcp_authentication_failed', serverName: name, message };
  }
  const isUnreachable = error instanceof McpFault && error.kind === 'unreachable';
  const verb = isUnreachable ? 'be reached' : 'be used';
  const message = `The MCP server ${name} at ${url} cannot ${verb}: ${toReason(error)}`;
  return { type: 'mcp_connection_failed', serverName: name, message };
}

function toFailure(server: McpServer, error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error;
  if (!isConnectionError(error)) return new ToolFailure(toRefusal(error), { cause: error });
  const doubt =
    wasNotReceived(error) || isAuthenticationError(error) ? '' : '. It is not known whether the call took effect';
  return new ToolFailure(`${toProblem(server, error).message}${doubt}`, { cause: error });
}
