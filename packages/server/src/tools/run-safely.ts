import { type ToolResult, textResult } from './tool.ts';
import { ToolFailure } from './tool-failure.ts';

/** Runs a tool; a failure becomes an error result. */
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
  return textResult(`${name} failed because of an internal error, not because of its input: ${message}`, {
    isError: true,
  });
}
