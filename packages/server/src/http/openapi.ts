import { z } from 'zod';
import type { App } from './app.ts';
import type { AnyRoute } from './route.ts';

/** Puts a route into the document, from the contract that also checks its requests. */
export function registerRoute(app: App, route: AnyRoute): void {
  const { name, summary, method, path, query, body, gives } = route;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  app.openAPIRegistry.registerPath({
    operationId: name,
    summary,
    tags: [name.split('.')[0]!],
    method,
    path,
    security: [{ bearer: [] }, { apiKey: [] }],
    request: {
      ...(names.length === 0
        ? {}
        : { params: z.object(Object.fromEntries(names.map((each) => [each, z.string()] as const))) }),
      ...(query === undefined ? {} : { query }),
      ...(body === undefined ? {} : { body: { content: { 'application/json': { schema: body } } } }),
    },
    responses: {
      200: toResponse(gives),
      default: { description: 'An error', content: { 'application/json': { schema: errorEnvelope } } },
    },
  });
}

function toResponse(gives: AnyRoute['gives']) {
  if (gives === 'stream') {
    return { description: 'Server-sent events', content: { 'text/event-stream': { schema: z.string() } } };
  }
  if (gives === 'content') {
    return { description: 'Content', content: { 'application/octet-stream': { schema: z.string() } } };
  }
  return { description: 'OK', content: { 'application/json': { schema: gives } } };
}

export function toOpenApi(app: App): object {
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
  app.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
  });
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Fleetloom', description: 'Compatible with the Managed Agents API.', version: '1' },
  });
}

const errorEnvelope = z
  .object({
    type: z.literal('error'),
    error: z.looseObject({ type: z.string(), message: z.string(), details: z.looseObject({}).optional() }),
    request_id: z.string(),
  })
  .meta({ id: 'Error' });
