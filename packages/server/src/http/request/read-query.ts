import { cutText } from '@fleetloom/protocol/fleet';
import type { ZodType, z } from 'zod';
import { limits } from '../../base/limits.ts';
import { doorError } from '../door-error.ts';

/** The parameters of a query by name, for a check by this schema. */
export type QuerySchema = z.ZodObject<Record<string, ZodType>>;

/**
 * What a query says. Lists come as `x[]=a&x[]=b` from the official clients and as `x=a&x=b` from others; which names are
 * lists, numbers or truth values, the schema says. `created_at[gte]` is a name like any other.
 */
export function readQuery(schema: QuerySchema, url: string): Record<string, unknown> {
  const at = url.indexOf('?');
  const given = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(at === -1 ? '' : url.slice(at + 1))) {
    const name = key.endsWith('[]') ? key.slice(0, -2) : key;
    const values = given.get(name);
    if (values === undefined) given.set(name, [value]);
    else if (values.push(value) > limits.queryValuesMax) throw tooMany(name);
  }
  // Older clients add it to every path.
  if (schema.shape['beta'] === undefined) given.delete('beta');
  return Object.fromEntries([...given].map(([name, values]) => [name, toValue(name, schemaOf(schema, name), values)]));
}

/** Names come from the caller, and every object inherits some of them, such as `constructor`. */
function schemaOf({ shape }: QuerySchema, name: string): ZodType | undefined {
  return Object.hasOwn(shape, name) ? shape[name] : undefined;
}

function toValue(name: string, schema: ZodType | undefined, texts: readonly string[]): unknown {
  const kind = kindOf(schema);
  if (kind === 'array') return texts;
  if (texts.length > 1 && kind !== undefined) {
    throw doorError('invalid_request', `${name}: is given ${texts.length} times`, { advice: 'give it once' });
  }
  const text = texts[0]!;
  // What is no number stays a text, and the check says that it is none.
  if (kind === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function kindOf(schema: ZodType | undefined): string | undefined {
  if (schema === undefined) return undefined;
  // The cast is zod's own way to look inside: optional and defaulted schemas hold the real one.
  const definition = schema._zod.def as { type: string; innerType?: ZodType };
  return definition.innerType === undefined ? definition.type : kindOf(definition.innerType);
}

function tooMany(name: string) {
  const problem = `${cutText(name, 100)}: has more than ${limits.queryValuesMax} values`;
  return doorError('invalid_request', problem, { advice: 'ask for fewer at a time' });
}
