import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, type Json, type JsonObject } from '../../../base/json/json.ts';
import { programLimits } from '../limits.ts';
import { refuseLargeBody } from './refuse-large-body.ts';
import { sendProblem } from './send-problem.ts';

/** Answers one message of MCP. Undefined for a notification. `signal` is aborted when the program no longer waits. */
export type McpHandler = (message: JsonObject, signal: AbortSignal) => Promise<JsonObject | undefined>;

/**
 * An MCP server of this process, over streamable HTTP. Each message is one POST; the response to a tool call is a stream with one
 * event, so that the program sees at once that its request has arrived.
 */
export function serveMcp(handle: McpHandler, onProblem: (problem: unknown) => void) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (request.method !== 'POST') {
      return sendProblem(request, response, 405, 'This MCP server is asked with POST', { allow: 'POST' });
    }
    if (refuseLargeBody(request, response)) return;
    answer(request, response, handle).catch((error: unknown) => {
      onProblem(error);
      response.destroy();
    });
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, handle: McpHandler): Promise<void> {
  const body = await readBody(request);
  if (body === undefined) return void refuseLargeBody(request, response, { isKnown: true });
  const message = parse(body);
  if (message === undefined) return sendProblem(request, response, 400, 'The body is not a message of MCP');
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const isCall = message['method'] === 'tools/call';
  if (isCall)
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }).flushHeaders();
  const answered = await handle(message, gone.signal);
  if (gone.signal.aborted) return;
  if (isCall) return void response.end(answered === undefined ? '' : `data: ${JSON.stringify(answered)}\n\n`);
  if (answered === undefined) return void response.writeHead(202).end();
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answered));
}

/** Reads a body; undefined if it exceeds the limit. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > programLimits.gatewayRequestBytesMax) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function parse(body: string): JsonObject | undefined {
  try {
    const value = JSON.parse(body) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
