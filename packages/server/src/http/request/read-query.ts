import { cutText } from '@fleetloom/protocol/fleet';
import type { ZodType, z } from 'zod';
import { httpLimits } from '../limits.ts';
import { requestError } from '../../base/request-error.ts';

/** The parameters of a query by name, for a check by this schema. */
export type QuerySchema = z.ZodObject<Record<string, ZodType>>;

/**
 * Reads a query. Official clients send lists as `x[]=a&x[]=b`, others as `x=a&x=b`; the schema defines which names are
 * lists, numbers or booleans. `created_at[gte]` is a name like any other.
 */
export function readQuery(schema: QuerySchema, url: string): Record<string, unknown> {
  const at = url.indexOf('?');
  if (at === -1) return {};
  const given = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(url.slice(at + 1))) {
    const name = key.endsWith('[]') ? key.slice(0, -2) : key;
    const values = given.get(name);
    if (values === undefined) given.set(name, [value]);
    else if (values.push(value) > httpLimits.queryValuesMax) throw tooMany(name);
  }
  // Older clients add `beta` to every path.
  if (schema.shape['beta'] === undefined) given.delete('beta');
  return Object.fromEntries([...given].map(([name, values]) => [name, toValue(name, schemaOf(schema, name), values)]));
}

/** Only own properties count: names come from the caller, and every object inherits some, such as `constructor`. */
function schemaOf({ shape }: QuerySchema, name: string): ZodType | undefined {
  return Object.hasOwn(shape, name) ? shape[name] : undefined;
}

function toValue(name: string, schema: ZodType | undefined, texts: readonly string[]): unknown {
  const kind = kindOf(schema);
  if (kind === 'array') return texts;
  if (texts.length > 1 && kind !== undefined) {
    throw requestError('invalid_request', `${name}: is given ${texts.length} times`, { advice: 'give it once' });
  }
  const text = texts[0]!;
  // A value that is not a number stays a string, and the schema rejects it.
  if (kind === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function kindOf(schema: ZodType | undefined): string | undefined {
  if (schema === undefined) return undefined;
  // The cast follows zod's documentation: optional and defaulted schemas wrap the inner one.
  const definition = schema._zod.def as { type: string; innerType?: ZodType };
  return definition.innerType === undefined ? definition.type : kindOf(definition.innerType);
}

function tooMany(name: string) {
  const problem = `${cutText(name, 100)}: has more than ${httpLimits.queryValuesMax} values`;
  return requestError('invalid_request', problem, { advice: 'request fewer values at a time' });
}
