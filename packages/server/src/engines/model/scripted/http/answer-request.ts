import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRefusal, ScriptedModelError } from '../failure.ts';
import type { ScriptedModel } from '../model.ts';
import type { AnswerEncoder, ModelApi } from './model-api.ts';
import { cutConnection, sendEvents } from './send-events.ts';
import { sendJson } from './send-json.ts';

/** A request to the model, and its response. */
export interface ModelExchange {
  readonly model: ScriptedModel;
  readonly api: ModelApi;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Handles a model request. Errors before the first event are thrown, for the handler to send. */
export async function answerRequest(params: unknown, { model, api, request, response }: ModelExchange): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  let encoder: AnswerEncoder | undefined;
  try {
    const plan = await model.plan(params, { api: api.name, agent: readAgent(request), signal: gone.signal });
    const headers = { [api.requestIdHeader]: plan.requestId };
    encoder = api.createEncoder(plan);
    for await (const due of model.play(plan, { signal: gone.signal })) {
      const events = encoder.add(due);
      if (!plan.stream) continue;
      if (!response.headersSent) response.writeHead(200, { ...streamHeaders, ...headers });
      await sendEvents(response, events, gone.signal);
    }
    if (plan.stream) response.end();
    else sendJson(response, 200, encoder.finish(), headers);
  } catch (error) {
    if (gone.signal.aborted) return;
    if (isRefusal(error) && encoder !== undefined && response.headersSent) {
      await sendEvents(response, encoder.fail(error.failure), gone.signal);
      response.end();
      return;
    }
    if (!(error instanceof ScriptedModelError) || error.failure.type !== 'cut') throw error;
    await cutConnection(response);
  }
}

const streamHeaders = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };

/** A caller in this process can name the agent; clients of the real API cannot. */
function readAgent({ headers }: IncomingMessage): string | undefined {
  const agent = headers['x-fleetloom-agent'];
  return typeof agent === 'string' ? agent : undefined;
}
