import type { IncomingMessage, ServerResponse } from 'node:http';
import { ScriptedModelError } from '../failure.ts';
import { MessageFold } from '../fold-message.ts';
import type { ScriptedModel } from '../model.ts';
import { cutConnection, sendEvents } from './send-events.ts';
import { sendJson } from './send-json.ts';

/** Answers `POST /v1/messages`. Refusals are thrown, for the handler to send. */
export async function answerMessages(
  model: ScriptedModel,
  params: unknown,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  try {
    const plan = await model.plan(params, { agent: readAgent(request), signal: gone.signal });
    const headers = { 'request-id': plan.requestId };
    const fold = new MessageFold();
    for await (const due of model.play(plan, { signal: gone.signal })) {
      if (!plan.stream) fold.add(due);
      else {
        if (!response.headersSent) response.writeHead(200, { ...streamHeaders, ...headers });
        await sendEvents(response, due, gone.signal);
      }
    }
    if (plan.stream) response.end();
    else sendJson(response, 200, fold.finish(), headers);
  } catch (error) {
    if (gone.signal.aborted) return;
    if (!(error instanceof ScriptedModelError) || error.failure.type !== 'cut') throw error;
    await cutConnection(response);
  }
}

const streamHeaders = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };

/** Whoever knows which agent asks can say so; no client of the real API does. */
function readAgent({ headers }: IncomingMessage): string | undefined {
  const agent = headers['x-fleetloom-agent'];
  return typeof agent === 'string' ? agent : undefined;
}
