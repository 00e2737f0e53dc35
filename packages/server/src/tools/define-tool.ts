import { z } from 'zod';
import type { Json, JsonObject } from '../base/json/json.ts';
import { runSafely } from './run-safely.ts';
import { type Tool, type ToolContext, type ToolResult, textResult } from './tool.ts';
import { ToolFailure } from './tool-failure.ts';

/** The description of a tool for the model, and the check of its input. */
export interface ToolDefinition<Input> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Checks an input. Throws a {@link ToolFailure} that names the invalid fields. */
  readonly check: (input: Json) => Input;
}

/** Name, description and input schema of a built-in tool. */
export interface ToolParts<Schema extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Schema;
}

/** A schema takes some ten kilobytes and a millisecond, so a tool is defined once per process and bound once per session. */
export function defineTool<Schema extends z.ZodObject>(parts: ToolParts<Schema>): ToolDefinition<z.infer<Schema>> {
  const { name, description, input: schema } = parts;
  return {
    name,
    description,
    inputSchema: toJsonSchema(schema),
    check: (input) => {
      const checked = schema.safeParse(input);
      if (!checked.success) throw new ToolFailure(toWords(checked.error));
      return checked.data;
    },
  };
}

/**
 * Binds a defined tool to its work in one session, which returns a result or a text, or throws a {@link ToolFailure}. The
 * input is checked before it runs, and it never rejects.
 */
export function bindTool<Input>(
  { name, description, inputSchema, check }: ToolDefinition<Input>,
  run: (input: Input, context: ToolContext) => Promise<ToolResult | string>,
): Tool {
  return {
    name,
    description,
    inputSchema,
    run: async (input, context) => {
      return await runSafely(name, async () => {
        const result = await run(check(input), context);
        return typeof result === 'string' ? textResult(result) : result;
      });
    },
  };
}

function toJsonSchema(schema: z.ZodObject): JsonObject {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
  const simple = Object.entries(properties).map(([name, property]) => [name, withoutNull(property)] as const);
  // The cast is safe because the generator returns plain JSON, although its type is wider.
  return { type: 'object', properties: Object.fromEntries(simple), required } as unknown as { [key: string]: Json };
}

/** Removes null from a schema: models may send null for an absent field, so null is accepted, but not shown to them. */
function withoutNull(property: unknown): unknown {
  if (typeof property !== 'object' || property === null) return property;
  const { anyOf, ...rest } = { anyOf: undefined, ...property };
  const [first]: unknown[] = Array.isArray(anyOf) ? anyOf : [];
  const merged = { ...(typeof first === 'object' ? first : {}), ...rest };
  const [type]: unknown[] = 'type' in merged && Array.isArray(merged.type) ? merged.type : [];
  return type === undefined ? merged : { ...merged, type };
}

/** Describes invalid fields: `command: must be a string, got a number; timeout_ms: …`. */
function toWords(error: z.ZodError): string {
  const issues = error.issues.map(({ path, message }) => `${path.length === 0 ? 'input' : path.join('.')}: ${message}`);
  return `the input does not fit: ${issues.join('; ')}`;
}
