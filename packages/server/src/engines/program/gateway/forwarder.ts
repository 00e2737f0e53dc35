import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { programLimits } from '../limits.ts';
import { type AnswerTap, createAnswerTap } from './answer-tap.ts';
import { readableEncodings } from './decoder.ts';
import type { GatewayEvent } from './events.ts';
import { refuseLargeBody } from './refuse-large-body.ts';
import { sendProblem } from './send-problem.ts';
import { BodyTooLarge, createTransport } from './transport.ts';
import { toDownstreamHeaders, toUpstreamHeaders, type Upstream } from './upstream.ts';
import { watchHangUp } from './watch-hang-up.ts';

/** Options of forwarding model requests. */
export interface ForwarderOptions {
  readonly upstream: Upstream;
  readonly onEvent: (event: GatewayEvent) => void;
  readonly onProblem: (problem: unknown) => void;
  readonly nextId: () => string;
  readonly requestsMax: number;
}

/** Forwards the model requests of one session. */
export interface Forwarder {
  /** `path` is one of {@link modelPaths}. Never throws. */
  forward(request: IncomingMessage, response: ServerResponse, path: string): void;
  close(): void;
}

/** The API of a program's model requests. */
export type ModelWire = 'messages' | 'responses';

/** The only paths that are forwarded to an endpoint. Compared literally: any other spelling is a different path. */
export const modelPaths: Readonly<Record<ModelWire, ReadonlySet<string>>> = {
  messages: new Set([
    '/v1/messages',
    '/v1/messages?beta=true',
    '/v1/messages/count_tokens',
    '/v1/messages/count_tokens?beta=true',
  ]),
  responses: new Set(['/v1/responses']),
};

/** Forwards the model requests of a program to their endpoint. */
export function createForwarder(options: ForwarderOptions): Forwarder {
  const { upstream, requestsMax } = options;
  const transport = createTransport(upstream);
  const closing = new AbortController();
  let underWay = 0;

  return {
    forward: (request, response, path) => {
      if (refuseLargeBody(request, response)) return;
      if (underWay >= requestsMax) return sendProblem(request, response, 529, `${requestsMax} requests are under way`);
      underWay += 1;
      pass(request, response, path)
        .catch(options.onProblem)
        .finally(() => {
          underWay -= 1;
        });
    },
    close: () => {
      closing.abort();
      transport.close();
    },
  };

  async function pass(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const tap = isTapped(path) ? createAnswerTap({ ...readAgent(request), ...options }) : undefined;
    const { signal, isGone } = watchHangUp(request, response, closing.signal);
    try {
      const headers = toUpstreamHeaders(tap === undefined ? request.rawHeaders : askReadable(request), upstream);
      const bodyBytesMax = programLimits.gatewayRequestBytesMax;
      const answer = await transport.send({ method: 'POST', path, headers, body: request, bodyBytesMax, signal });
      tap?.begin(answer);
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, toDownstreamHeaders(answer.rawHeaders));
      // The headers are sent at once, because the first piece may take long.
      response.flushHeaders();
      await pipeline(answer, (pieces: AsyncIterable<Buffer>) => tapped(pieces, tap), response, { signal });
      await tap?.end();
    } catch (error) {
      if (isGone()) tap?.fail('aborted', 'the program hung up');
      else if (response.headersSent) tap?.fail('broken', 'the connection to the endpoint broke');
      else answerBroken(request, response, tap, error);
      // An incomplete response must not look complete.
      if (response.headersSent && !response.writableFinished) response.destroy();
    }
  }
}

/** Forwards the pieces of a response, and passes each to the tap: a slow program slows the endpoint down, a slow listener does not. */
async function* tapped(pieces: AsyncIterable<Buffer>, tap: AnswerTap | undefined): AsyncGenerator<Buffer, void> {
  for await (const piece of pieces) {
    yield piece;
    tap?.push(piece);
  }
}

/** Whether responses on this path are read. Programs with the Responses API print the text of sub-agents themselves. */
function isTapped(path: string): boolean {
  return path === '/v1/messages' || path === '/v1/messages?beta=true';
}

/** The ids of the agent that sends the request. Both tested releases send these headers with every request. */
function readAgent({ headers }: IncomingMessage) {
  return {
    sessionId: toOne(headers['x-claude-code-session-id']),
    agentId: toOne(headers['x-claude-code-agent-id']),
    parentAgentId: toOne(headers['x-claude-code-parent-agent-id']),
  };
}

function toOne(value: string | string[] | undefined): string | null {
  const one = Array.isArray(value) ? value[0] : value;
  return one === undefined || one === '' ? null : one;
}

/** Removes content encodings that this Node cannot decode from the request: the gateway could not read such a response. */
function askReadable({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.map((value, at) => {
    const isValue = at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'accept-encoding';
    return isValue ? readableEncodings(value) : value;
  });
}

function answerBroken(
  request: IncomingMessage,
  response: ServerResponse,
  tap: AnswerTap | undefined,
  error: unknown,
): void {
  if (error instanceof BodyTooLarge) {
    tap?.fail('broken', 'the request is too large');
    return void refuseLargeBody(request, response, { isKnown: true });
  }
  // A network error does not contain secrets: its address and message have none, and headers are not part of it.
  const message = `The endpoint cannot be reached: ${error instanceof Error ? error.message : String(error)}`;
  tap?.fail('broken', message);
  sendProblem(request, response, 502, message);
}
