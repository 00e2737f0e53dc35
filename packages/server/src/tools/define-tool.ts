import { z } from 'zod';
import type { Json, JsonObject } from '../base/json.ts';
import { type Tool, type ToolContext, type ToolResult, textResult } from './tool.ts';
import { ToolFailure } from './tool-failure.ts';

export interface ToolParts<Schema extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Schema;
  /** Gives its result, or text that stands for one, or throws a {@link ToolFailure}. */
  run(input: z.infer<Schema>, context: ToolContext): Promise<ToolResult | string>;
}

/** A tool whose input is checked before it runs, and that never rejects. */
export function defineTool<Schema extends z.ZodObject>(parts: ToolParts<Schema>): Tool {
  const { name, description, input: schema } = parts;
  return {
    name,
    description,
    inputSchema: toJsonSchema(schema),
    run: async (input, context) => {
      return await runSafely(name, async () => {
        const checked = schema.safeParse(input);
        if (!checked.success) throw new ToolFailure(toWords(checked.error));
        const result = await parts.run(checked.data, context);
        return typeof result === 'string' ? textResult(result) : result;
      });
    },
  };
}

/** Whatever goes wrong is a result. */
export async function runSafely(name: string, work: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    return toErrorResult(name, error);
  }
}

function toErrorResult(name: string, error: unknown): ToolResult {
  if (error instanceof ToolFailure) return textResult(`${name}: ${error.message}`, { isError: true });
  const message = error instanceof Error ? error.message : String(error);
  return textResult(`${name} broke down, which is no fault of its input: ${message}`, { isError: true });
}

function toJsonSchema(schema: z.ZodObject): JsonObject {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
  const simple = Object.entries(properties).map(([name, property]) => [name, withoutNull(property)] as const);
  // The generator makes plain JSON, which its own type is too loose to say.
  return { type: 'object', properties: Object.fromEntries(simple), required } as unknown as { [key: string]: Json };
}

/** Models write null for what they leave out, so that is taken; but they need not be told. */
function withoutNull(property: unknown): unknown {
  if (typeof property !== 'object' || property === null) return property;
  const { anyOf, ...rest } = { anyOf: undefined, ...property };
  const [first]: unknown[] = Array.isArray(anyOf) ? anyOf : [];
  const merged = { ...(typeof first === 'object' ? first : {}), ...rest };
  const [type]: unknown[] = 'type' in merged && Array.isArray(merged.type) ? merged.type : [];
  return type === undefined ? merged : { ...merged, type };
}

/** `command: must be a string, got a number; timeout_ms: …` */
function toWords(error: z.ZodError): string {
  const issues = error.issues.map(({ path, message }) => `${path.length === 0 ? 'input' : path.join('.')}: ${message}`);
  return `the input does not fit: ${issues.join('; ')}`;
}
