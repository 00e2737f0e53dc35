import type { IncomingMessage, ServerResponse } from 'node:http';
import { cutText } from '@fleetloom/protocol/fleet';
import { decodeUtf8 } from '../../../base/decode-utf8.ts';
import { inSlices } from '../../../base/in-slices.ts';
import { isRefusal } from '../failure.ts';
import { limits } from '../limits.ts';
import type { ScriptedModel } from '../model.ts';
import { answerMessages } from './answer-messages.ts';
import { listModels, readModel } from './models.ts';
import { type BodyRoom, readBody } from './read-body.ts';
import { type HttpProblem, sendJson, sendProblem, sendRefusal } from './send-json.ts';

export interface ScriptedHandlerOptions {
  model: ScriptedModel;
  /** What all paths begin with, such as `/scripted` where the model is part of another server. */
  basePath?: string | undefined;
  bodyBytesMax?: number | undefined;
  lingerMs?: number | undefined;
  /**
   * Hears of our own mistakes, which the client sees as a 500 or a broken stream. By default a warning of the process.
   */
  onMishap?: ((error: Error) => void) | undefined;
}

/** Answers one request of Node's server as the Messages API would. `room` bounds what bodies under way hold in memory. */
export type ScriptedHandler = (request: IncomingMessage, response: ServerResponse, room?: BodyRoom) => void;

export function createScriptedHandler(options: ScriptedHandlerOptions): ScriptedHandler {
  const { model, basePath = '', bodyBytesMax = limits.bodyBytesMax, lingerMs = limits.lingerMs } = options;
  const { onMishap = (error) => process.emitWarning(error) } = options;
  return (request, response, room) => {
    // A client that goes away in the middle of a write; the `close` that follows ends its answer.
    response.on('error', () => response.destroy());
    answer(request, response, room).catch((error: unknown) => {
      // What the model refuses is the caller's.
      if (isRefusal(error)) return sendRefusal(response, error.failure);
      onMishap(toError(error));
      sendMishap(response, toError(error));
    });
  };

  async function answer(request: IncomingMessage, response: ServerResponse, room?: BodyRoom): Promise<void> {
    const asked = readTarget(request, basePath);
    const route = asked === undefined ? undefined : findRoute(asked.path);
    if (asked === undefined || route === undefined) return sendProblem(response, notFound(request));
    if (!route.methods.includes(request.method ?? '')) return sendProblem(response, notAllowed(request, route.methods));
    if (route.type === 'root') return sendJson(response, 200, { type: 'scripted_model' });
    if (route.type === 'models') return await listModels(model, asked.query, response);
    if (route.type === 'model') return await readModel(model, route.id, response);

    const body = await readBody(request, bodyBytesMax, room);
    if (body.type === 'gone') return;
    if (body.type === 'too_large') {
      const message = `Request exceeds the maximum size of ${bodyBytesMax} bytes`;
      return refuseBody(request, response, { status: 413, message });
    }
    if (body.type === 'no_room') {
      return refuseBody(request, response, { status: 429, message: body.reason, headers: { 'retry-after': '1' } });
    }
    if (body.type === 'too_complex') {
      return sendProblem(response, {
        status: 400,
        message: 'The request body is nested too deep or has too many values',
      });
    }
    const params = await inSlices(parseJson(body.bytes));
    if (params === undefined)
      return sendProblem(response, { status: 400, message: 'The request body is not valid JSON' });
    if (route.type === 'messages') return await answerMessages(model, params.value, request, response);
    // The cast lets the check of the model, which takes anything, say what is wrong.
    sendJson(response, 200, await model.countTokens(params.value as object));
  }

  /** The rest is read and thrown away: who is still sending when the connection closes never reads why. */
  function refuseBody(request: IncomingMessage, response: ServerResponse, problem: HttpProblem): void {
    sendProblem(response, problem);
    request.resume();
    const patience = setTimeout(() => request.destroy(), lingerMs);
    request.on('close', () => clearTimeout(patience));
  }
}

type Route = { methods: readonly string[] } & (
  | { type: 'root' | 'models' | 'messages' | 'count_tokens' }
  | { type: 'model'; id: string }
);

const READ = ['GET', 'HEAD'];

function findRoute(path: string): Route | undefined {
  if (path === '/' || path === '') return { type: 'root', methods: READ };
  if (path === '/v1/messages') return { type: 'messages', methods: ['POST'] };
  if (path === '/v1/messages/count_tokens') return { type: 'count_tokens', methods: ['POST'] };
  if (path === '/v1/models') return { type: 'models', methods: READ };
  // Ids hold a slash. The official SDK escapes it; people who type an address do not.
  if (path.startsWith('/v1/models/')) return { type: 'model', methods: READ, id: path.slice('/v1/models/'.length) };
  return undefined;
}

function readTarget(
  { url = '/' }: IncomingMessage,
  basePath: string,
): { path: string; query: URLSearchParams } | undefined {
  const [rawPath = '', ...rest] = url.split('?');
  if (rawPath !== basePath && !rawPath.startsWith(`${basePath}/`)) return undefined;
  try {
    return { path: decodeURIComponent(rawPath.slice(basePath.length)), query: new URLSearchParams(rest.join('?')) };
  } catch {
    // A percent sign that escapes nothing is in no path of ours.
    return undefined;
  }
}

function* parseJson(bytes: Uint8Array): Generator<void, { value: unknown } | undefined> {
  try {
    const text = yield* decodeUtf8(bytes);
    yield;
    return { value: JSON.parse(text) };
  } catch {
    // Why is not said: the message would differ between versions of Node.
    return undefined;
  }
}

function notFound({ method, url }: IncomingMessage): HttpProblem {
  return { status: 404, message: `Not found: ${method} ${cutText(url ?? '', 200)}` };
}

function notAllowed({ method }: IncomingMessage, methods: readonly string[]): HttpProblem {
  const allow = methods.join(', ');
  return { status: 405, message: `Method not allowed: ${method}; allowed: ${allow}`, headers: { allow } };
}

/** A mistake of ours must not look like an answer: the stream breaks, or there is a 500. */
function sendMishap(response: ServerResponse, { message }: Error): void {
  if (response.headersSent) response.destroy();
  else sendProblem(response, { status: 500, message });
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
