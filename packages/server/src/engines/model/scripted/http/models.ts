import type { ServerResponse } from 'node:http';
import { cutText } from '@fleetloom/protocol/fleet';
import { MODEL_PREFIX } from '../request/find-script.ts';
import { limits } from '../limits.ts';
import type { ScriptedModel } from '../model.ts';
import type { ModelInfo } from '../wire.ts';
import { messagesApi } from './model-api.ts';
import { sendJson, sendProblem } from './send-json.ts';

/** Handles `GET /v1/models`: one page, from `after_id` on or up to `before_id`. */
export async function listModels(
  model: ScriptedModel,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const limit = Number(query.get('limit') ?? limits.modelsPageDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > limits.modelsPageMax) {
    return sendProblem(response, messagesApi, {
      status: 400,
      message: `limit: must be from 1 to ${limits.modelsPageMax}`,
    });
  }
  const ids = (await model.listScripts()).map((name) => `${MODEL_PREFIX}${name}`);
  const after = query.get('after_id');
  const before = query.get('before_id');
  // Ids are sorted, so that a cursor keeps its position after its script was removed.
  const wanted = ids.filter((id) => (after === null || id > after) && (before === null || id < before));
  const page = before !== null && after === null ? wanted.slice(-limit) : wanted.slice(0, limit);
  sendJson(response, 200, {
    data: page.map(toModelInfo),
    has_more: page.length < wanted.length,
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
  });
}

/** Handles `GET /v1/models/{id}`. */
export async function readModel(model: ScriptedModel, id: string, response: ServerResponse): Promise<void> {
  const names = await model.listScripts();
  if (names.some((name) => id === `${MODEL_PREFIX}${name}`)) return sendJson(response, 200, toModelInfo(id));
  sendProblem(response, messagesApi, { status: 404, message: `model: ${cutText(id, 200)}` });
}

function toModelInfo(id: string): ModelInfo {
  return {
    type: 'model',
    id,
    display_name: `Scripted: ${id.slice(MODEL_PREFIX.length)}`,
    // The API's value for an unknown date.
    created_at: '1970-01-01T00:00:00Z',
    lifecycle: 'active',
    line: null,
    capabilities: null,
    max_input_tokens: null,
    max_tokens: null,
    deprecated_at: null,
    retires_at: null,
  };
}
