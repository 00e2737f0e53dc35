import { runSafely } from '../../run-safely.ts';
import { type ToolResult, textResult } from '../../tool.ts';
import type { HostInputs, HostToolName } from '../contract/inputs.ts';
import type { HostContext } from './host-context.ts';

/** Runs a tool on input that the server has checked. Never rejects. */
export async function runTool<Name extends HostToolName>(
  name: Name,
  input: HostInputs[Name],
  context: HostContext,
): Promise<ToolResult> {
  return await runSafely(name, async () => {
    const result = await TOOLS[name](input, context);
    return typeof result === 'string' ? textResult(result) : result;
  });
}

/** Loaded when they are first called: the first call of a session waits for all that its host loads. */
const TOOLS: {
  readonly [Name in HostToolName]: (input: HostInputs[Name], context: HostContext) => Promise<ToolResult | string>;
} = {
  bash: async (input, context) => await context.shells.run(input, context),
  read: async (...call) => await (await import('../../files/read-tool.ts')).runRead(...call),
  write: async (...call) => await (await import('../../files/write-tool.ts')).runWrite(...call),
  edit: async (...call) => await (await import('../../files/edit-tool.ts')).runEdit(...call),
  glob: async (...call) => await (await import('../../search/glob-tool.ts')).runGlob(...call),
  grep: async (...call) => await (await import('../../search/grep-tool.ts')).runGrep(...call),
};
