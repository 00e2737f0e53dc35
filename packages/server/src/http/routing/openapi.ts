import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import type { AnyRoute } from './route.ts';

/** `GET /openapi.json`: the contracts of all routes as an OpenAPI 3.1 document. It needs no key. */
export function openApiEndpoint(routes: readonly AnyRoute[]): Endpoint {
  // The document is large, so it is created once, on the first request.
  let bytes: Buffer | undefined;
  return {
    method: 'GET',
    path: '/openapi.json',
    name: '/openapi.json',
    handle: async ({ outgoing }) => {
      bytes ??= Buffer.from(JSON.stringify(toOpenApi(routes)));
      outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
    },
  };
}

/** The OpenAPI 3.1 document of routes. Schemas with an id are listed once, under `components`. */
export function toOpenApi(routes: readonly AnyRoute[]): object {
  const schemas: Record<string, unknown> = {};
  const toSchema = (schema: z.ZodType): JsonSchema => {
    const { $schema: _, $defs = {}, ...rest } = withComponentRefs(z.toJSONSchema(schema, SCHEMA_OPTIONS));
    Object.assign(schemas, $defs);
    return rest;
  };
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method] = toOperation(route, toSchema);
  return {
    openapi: '3.1.0',
    info: { title: 'Fleetloom', description: 'Compatible with the Managed Agents API.', version: '1' },
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
    },
  };
}

type JsonSchema = Record<string, unknown>;
type ToSchema = (schema: z.ZodType) => JsonSchema;

function toOperation(route: AnyRoute, toSchema: ToSchema): object {
  const { name, summary, path, query, body, gives } = route;
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => ({
      name: param,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...(query === undefined ? [] : toQueryParameters(toSchema(query))),
  ];
  return {
    operationId: name,
    summary,
    tags: [name.split('.')[0]!],
    security: [{ bearer: [] }, { apiKey: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { content: { 'application/json': { schema: toSchema(body) } } } }),
    responses: {
      200: toResponse(gives, toSchema),
      default: { description: 'An error', content: { 'application/json': { schema: toSchema(errorEnvelope) } } },
    },
  };
}

function toQueryParameters({ properties = {}, required = [] }: JsonSchema): object[] {
  // The casts: zod writes objects in this form.
  const isRequired = (name: string) => (required as readonly string[]).includes(name);
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) => ({
    name,
    in: 'query',
    required: isRequired(name),
    schema,
  }));
}

function toResponse(gives: AnyRoute['gives'], toSchema: ToSchema): object {
  if (gives === 'stream') {
    return { description: 'Server-sent events', content: { 'text/event-stream': { schema: { type: 'string' } } } };
  }
  if (gives === 'content') {
    return { description: 'Content', content: { 'application/octet-stream': { schema: { type: 'string' } } } };
  }
  return { description: 'OK', content: { 'application/json': { schema: toSchema(gives) } } };
}

const SCHEMA_OPTIONS: Parameters<typeof z.toJSONSchema>[1] = {
  // The input of a schema: fields with a default are optional.
  io: 'input',
  override: ({ jsonSchema }) => {
    // `format` already implies this pattern.
    if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    // Every JSON number is within these bounds.
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  },
};

/** zod refers to `$defs` of the same schema; a document has all of them under `components`. */
function withComponentRefs(schema: object): JsonSchema & { $defs?: JsonSchema } {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

const errorEnvelope = z
  .object({
    type: z.literal('error'),
    error: z.looseObject({ type: z.string(), message: z.string(), details: z.looseObject({}).optional() }),
    request_id: z.string(),
  })
  .meta({ id: 'Error' });
