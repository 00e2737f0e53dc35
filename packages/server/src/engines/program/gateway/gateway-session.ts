import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { McpAuthorization } from '../../../base/outgoing-http.ts';
import type { GatewayEvent } from './events.ts';
import { createForwarder, modelPaths, type ModelWire } from './forwarder.ts';
import { createMcpForwarder, type McpServer } from './mcp-forwarder.ts';
import type { ProgramNetwork } from '../program-network.ts';
import { sendProblem } from './send-problem.ts';
import { createTunnels, refuse } from './tunnels.ts';
import type { Upstream } from './upstream.ts';

/** Options of the gateway for one session. */
export interface SessionOptions {
  /** The endpoint of model requests. Null: the program sends them elsewhere, so none are forwarded. */
  readonly upstream: Upstream | null;
  /** The API of the program's model requests; by default the Messages API. */
  readonly wire?: ModelWire | undefined;
  /** Answers requests to an MCP server of this process, at {@link SERVED_PATH}. */
  readonly serve?: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  readonly mcpServers: readonly McpServer[];
  /** Adds credentials to requests to MCP servers. */
  readonly authorization?: McpAuthorization | undefined;
  readonly network: ProgramNetwork;
  /** Whether the program may request connections to other hosts, because it has no network of its own. */
  readonly hasTunnels: boolean;
  readonly onEvent: (event: GatewayEvent) => void;
  readonly onProblem: (problem: unknown) => void;
  readonly nextId: () => string;
  readonly requestsMax: number;
}

/** The requests that the program of one session may make with its secret. None of the functions throw. */
export interface SessionRequests {
  /** Handles a request. `target` is the unchanged rest of the request target after the secret. */
  handle(request: IncomingMessage, response: ServerResponse, target: string): void;
  connect(request: IncomingMessage, near: Duplex, head: Buffer): void;
  mcpPathOf(serverName: string): string;
  whyUnreachable(serverName: string): string | null;
  close(): void;
}

/** Handles the requests of one session's program. */
export function createSessionRequests(options: SessionOptions): SessionRequests {
  const { upstream, wire = 'messages', serve, mcpServers: servers, network, hasTunnels, onProblem } = options;
  const { authorization } = options;
  const paths = modelPaths[wire];
  const forwarder = upstream === null ? undefined : createForwarder({ ...options, upstream });
  const mcp = createMcpForwarder({ servers, network, authorization, onProblem });
  const tunnels = createTunnels(network);
  return {
    handle: (request, response, target) => {
      if (serve !== undefined && target === SERVED_PATH) return serve(request, response);
      if (mcp.forward(request, response, target)) return;
      if (forwarder === undefined || !paths.has(target)) return refusePath(request, response, target);
      if (request.method !== 'POST') return refuseMethod(request, response);
      forwarder.forward(request, response, target);
    },
    connect: (request, near, head) => {
      if (hasTunnels && network.openTunnel !== undefined) network.openTunnel(request, near, head);
      else if (hasTunnels) tunnels.open(request, near, head);
      else refuse(near, '405 Method Not Allowed', 'This gateway opens no connections');
    },
    mcpPathOf: (serverName) => mcp.pathOf(serverName),
    whyUnreachable: (serverName) => mcp.whyUnreachable(serverName),
    close: () => {
      forwarder?.close();
      mcp.close();
      tunnels.close();
      network.close?.();
    },
  };
}

/** The path of the MCP server of this process. */
export const SERVED_PATH = '/tools';

/** Answers a request for an unknown path with 404. */
export function refusePath(request: IncomingMessage, response: ServerResponse, target: string): void {
  const shown = JSON.stringify(target.slice(0, SHOWN_CHARS_MAX));
  const message = `This gateway forwards POST /v1/messages, /v1/messages/count_tokens and /v1/responses only, not ${shown}`;
  sendProblem(request, response, 404, message);
}

const SHOWN_CHARS_MAX = 200;

function refuseMethod(request: IncomingMessage, response: ServerResponse): void {
  sendProblem(request, response, 405, `This gateway forwards POST only, not ${request.method}`, { allow: 'POST' });
}
