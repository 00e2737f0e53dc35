import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { dropBody, type McpAuthorization } from '../../../base/outgoing-http.ts';
import { programLimits } from '../limits.ts';
import type { ProgramNetwork } from '../program-network.ts';
import { refuseLargeBody } from './refuse-large-body.ts';
import { sendProblem } from './send-problem.ts';
import { BodyTooLarge, createEndpointTransport, type Transport } from './transport.ts';
import { toDownstreamHeaders, toMcpHeaders } from './upstream.ts';
import { watchHangUp } from './watch-hang-up.ts';

/** Options of forwarding MCP requests. */
export interface McpForwarderOptions {
  readonly servers: readonly McpServer[];
  readonly network: ProgramNetwork;
  /** The credentials of the session, which replace credentials that the program sends. */
  readonly authorization?: McpAuthorization | undefined;
  readonly onProblem: (problem: unknown) => void;
}

/** An MCP server of an agent. */
export interface McpServer {
  readonly name: string;
  readonly url: string;
}

/** Forwards requests of one session to the MCP servers of its agents, and to no other host. */
export interface McpForwarder {
  /** The path of a server, to be appended to the session's base URL. */
  pathOf(serverName: string): string;
  /** Forwards a request. False if the path does not belong to a server. Never throws. */
  forward(request: IncomingMessage, response: ServerResponse, path: string): boolean;
  /** Why a server could not be reached at the last attempt; null if it could. */
  whyUnreachable(serverName: string): string | null;
  close(): void;
}

/** Forwards the requests of a program to its MCP servers. */
export function createMcpForwarder({ servers, network, authorization, onProblem }: McpForwarderOptions): McpForwarder {
  const byPath = new Map(servers.map((server, at) => [`/mcp/${at}`, server]));
  const transports = new Map<string, Transport>();
  const problems = new Map<string, string>();
  const closing = new AbortController();
  let underWay = 0;
  let heldBytes = 0;

  return {
    pathOf: (serverName) => [...byPath].find(([, { name }]) => name === serverName)?.[0] ?? '/mcp/none',
    forward: (request, response, path) => {
      const server = byPath.get(path);
      if (server === undefined) return false;
      if (!METHODS.has(request.method ?? '')) {
        sendProblem(request, response, 405, 'An MCP server is asked with GET, POST or DELETE', { allow: ALLOWED });
      } else if (underWay >= programLimits.gatewayMcpRequestsMax) {
        sendProblem(
          request,
          response,
          529,
          `${programLimits.gatewayMcpRequestsMax} requests to MCP servers are under way`,
        );
      } else if (!refuseLargeBody(request, response)) {
        underWay += 1;
        pass(request, response, server)
          .catch(onProblem)
          .finally(() => {
            underWay -= 1;
          });
      }
      return true;
    },
    whyUnreachable: (serverName) => problems.get(serverName) ?? null,
    close: () => {
      closing.abort();
      for (const transport of transports.values()) transport.close();
    },
  };

  async function pass(request: IncomingMessage, response: ServerResponse, { name, url: text }: McpServer) {
    const { signal, isGone } = watchHangUp(request, response, closing.signal);
    const hasBody = request.method === 'POST';
    const bytes = hasBody && authorization !== undefined ? countHeld(request) : undefined;
    heldBytes += bytes ?? 0;
    try {
      const url = new URL(text);
      const addresses = await findAddresses(url, name, signal);
      // Not 403, which the program would interpret as a missing login.
      if (addresses === undefined) return sendProblem(request, response, 502, problems.get(name) ?? '');
      if (!hasBody) request.resume();
      const { gatewayRequestBytesMax: bodyBytesMax } = programLimits;
      // A request that may have to be sent again is kept until its response arrives.
      const held = bytes === undefined ? undefined : await readBody(request, bodyBytesMax);
      const send = async (header: string | undefined) =>
        await transportOf(url).send({
          method: request.method ?? 'GET',
          path: `${url.pathname}${url.search}`,
          headers: toMcpHeaders(request.rawHeaders, url, hasBody, header),
          body: !hasBody ? null : held === undefined ? request : Readable.from(held, { objectMode: false }),
          bodyBytesMax,
          signal,
          addresses,
        });
      const header = await findHeader(text);
      const first = await send(header);
      const second = first.statusCode === 401 && header !== undefined ? await findHeader(text, header) : header;
      const isAgain = second !== undefined && second !== header && (!hasBody || held !== undefined);
      if (isAgain) dropBody(first);
      const answer = isAgain ? await send(second) : first;
      problems.delete(name);
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, toDownstreamHeaders(answer.rawHeaders));
      response.flushHeaders();
      await pipeline(answer, response, { signal });
    } catch (error) {
      if (!isGone() && !response.headersSent) answerBroken(request, response, name, error);
      if (response.headersSent && !response.writableFinished) response.destroy();
    } finally {
      heldBytes -= bytes ?? 0;
    }
  }

  /** The length of a body that may be kept. Undefined if it exceeds the limit, or is not known in advance. */
  function countHeld({ headers }: IncomingMessage): number | undefined {
    const bytes = Number(headers['content-length'] ?? Number.NaN);
    return heldBytes + bytes <= programLimits.gatewayMcpHeldBytesMax ? bytes : undefined;
  }

  /** Finds the authorization header. Why a credential cannot be read is reported to the operator, not to the program. */
  async function findHeader(url: string, rejected?: string): Promise<string | undefined> {
    try {
      return await authorization?.find(url, rejected);
    } catch (cause) {
      onProblem(cause);
      throw new Error('its credential cannot be read', { cause });
    }
  }

  async function findAddresses(url: URL, name: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
    try {
      return await network.findMcpServer(url, signal);
    } catch (error) {
      problems.set(name, toMessage(error));
      return undefined;
    }
  }

  /** The transport of an origin. There is one for each, so that connections are reused. */
  function transportOf({ origin }: URL): Transport {
    const transport = transports.get(origin) ?? createEndpointTransport(origin);
    transports.set(origin, transport);
    return transport;
  }

  function answerBroken(request: IncomingMessage, response: ServerResponse, name: string, error: unknown): void {
    if (error instanceof BodyTooLarge) return void refuseLargeBody(request, response, { isKnown: true });
    problems.set(name, toMessage(error));
    sendProblem(request, response, 502, `The MCP server ${name} cannot be reached: ${toMessage(error)}`);
  }
}

async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > bytesMax) throw new BodyTooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const METHODS = new Set(['GET', 'POST', 'DELETE']);
const ALLOWED = [...METHODS].join(', ');

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
