import type { IncomingMessage, ServerResponse } from 'node:http';
import { cutText } from '@fleetloom/protocol/fleet';
import { decodeUtf8 } from '../../../../base/json/decode-utf8.ts';
import { inSlices } from '../../../../base/in-slices.ts';
import { isRefusal } from '../failure.ts';
import { limits } from '../limits.ts';
import type { ScriptedModel } from '../model.ts';
import { answerRequest } from './answer-request.ts';
import { messagesApi, type ModelApi, responsesApi } from './model-api.ts';
import { listModels, readModel } from './models.ts';
import { type BodyRoom, readBody } from './read-body.ts';
import { type HttpProblem, sendJson, sendProblem, sendRefusal } from './send-json.ts';

/** Options of the HTTP handler of the scripted model. */
export interface ScriptedHandlerOptions {
  model: ScriptedModel;
  /** The prefix of all paths, such as `/scripted` if the model is part of another server. */
  basePath?: string | undefined;
  bodyBytesMax?: number | undefined;
  lingerMs?: number | undefined;
  /**
   * Called with defects of this server, which the client sees as a 500 or a broken stream. By default a warning of the process.
   */
  onError?: ((error: Error) => void) | undefined;
}

/** Handles one request of a Node server like the Messages or the Responses API. `room` bounds the bodies in memory. */
export type ScriptedHandler = (request: IncomingMessage, response: ServerResponse, room?: BodyRoom) => void;

/** Creates the HTTP handler of the scripted model. */
export function createScriptedHandler(options: ScriptedHandlerOptions): ScriptedHandler {
  const { model, basePath = '', bodyBytesMax = limits.bodyBytesMax, lingerMs = limits.lingerMs } = options;
  const { onError = (error) => process.emitWarning(error) } = options;
  return (request, response, room) => {
    // A client that leaves in the middle of a write; the `close` that follows ends its response.
    response.on('error', () => response.destroy());
    const asked = readTarget(request, basePath);
    const api = asked !== undefined && isResponsesPath(asked.path) ? responsesApi : messagesApi;
    answer({ request, response, room, asked, api }).catch((error: unknown) => {
      // A request that the model rejects is an error of the caller.
      if (isRefusal(error)) return sendRefusal(response, api, error.failure);
      onError(toError(error));
      sendInternalError(response, api, toError(error));
    });
  };

  async function answer({ request, response, room, asked, api }: Exchange): Promise<void> {
    const route = asked === undefined ? undefined : findRoute(asked.path);
    if (asked === undefined || route === undefined) return sendProblem(response, api, notFound(request));
    if (!route.methods.includes(request.method ?? '')) {
      return sendProblem(response, api, notAllowed(request, route.methods));
    }
    if (route.type === 'root') return sendJson(response, 200, { type: 'scripted_model' });
    if (route.type === 'models') return await listModels(model, asked.query, response);
    if (route.type === 'model') return await readModel(model, route.id, response);

    const body = await readBody(request, bodyBytesMax, room);
    if (body.type === 'gone') return;
    if (body.type === 'too_large') {
      const message = `Request exceeds the maximum size of ${bodyBytesMax} bytes`;
      return refuseBody({ status: 413, message });
    }
    if (body.type === 'no_room') {
      return refuseBody({ status: 429, message: body.reason, headers: { 'retry-after': '1' } });
    }
    if (body.type === 'too_complex') {
      const message = 'The request body is nested too deep or has too many values';
      return sendProblem(response, api, { status: 400, message });
    }
    const params = await inSlices(parseJson(body.bytes));
    if (params === undefined) {
      return sendProblem(response, api, { status: 400, message: 'The request body is not valid JSON' });
    }
    if (route.type === 'answer') return await answerRequest(params.value, { model, api, request, response });
    // The cast: the model checks the value and reports errors.
    sendJson(response, 200, await model.countTokens(params.value as object));

    /** Rejects a body. The rest is read and discarded: a client that is still sending when the connection closes loses the response. */
    function refuseBody(problem: HttpProblem): void {
      sendProblem(response, api, problem);
      request.resume();
      const patience = setTimeout(() => request.destroy(), lingerMs);
      request.on('close', () => clearTimeout(patience));
    }
  }
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly room: BodyRoom | undefined;
  readonly asked: Target | undefined;
  readonly api: ModelApi;
}

type Route = { methods: readonly string[] } & (
  | { type: 'root' | 'models' | 'answer' | 'count_tokens' }
  | { type: 'model'; id: string }
);

const READ = ['GET', 'HEAD'];

function findRoute(path: string): Route | undefined {
  if (path === '/' || path === '') return { type: 'root', methods: READ };
  if (path === '/v1/messages' || path === RESPONSES) return { type: 'answer', methods: ['POST'] };
  if (path === '/v1/messages/count_tokens') return { type: 'count_tokens', methods: ['POST'] };
  if (path === '/v1/models') return { type: 'models', methods: READ };
  // Ids contain a slash. The official SDK escapes it; people who type an address do not.
  if (path.startsWith('/v1/models/')) return { type: 'model', methods: READ, id: path.slice('/v1/models/'.length) };
  return undefined;
}

const RESPONSES = '/v1/responses';

/** Whether the path belongs to the Responses API, including unknown paths below it: their errors have its envelope. */
function isResponsesPath(path: string): boolean {
  return path === RESPONSES || path.startsWith(`${RESPONSES}/`);
}

interface Target {
  readonly path: string;
  readonly query: URLSearchParams;
}

function readTarget({ url = '/' }: IncomingMessage, basePath: string): Target | undefined {
  const [rawPath = '', ...rest] = url.split('?');
  if (rawPath !== basePath && !rawPath.startsWith(`${basePath}/`)) return undefined;
  try {
    return { path: decodeURIComponent(rawPath.slice(basePath.length)), query: new URLSearchParams(rest.join('?')) };
  } catch {
    // No path of this handler contains an invalid percent escape.
    return undefined;
  }
}

function* parseJson(bytes: Uint8Array): Generator<void, { value: unknown } | undefined> {
  try {
    const text = yield* decodeUtf8(bytes);
    yield;
    return { value: JSON.parse(text) };
  } catch {
    // Without the reason: the message differs between versions of Node.
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

/** Reports a defect of this server: the stream breaks, or the status is 500. */
function sendInternalError(response: ServerResponse, api: ModelApi, { message }: Error): void {
  if (response.headersSent) response.destroy();
  else sendProblem(response, api, { status: 500, message });
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
