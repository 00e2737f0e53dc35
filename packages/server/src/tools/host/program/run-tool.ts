import type { WorkspaceToolName } from '@fleetloom/protocol/managed-agents';
import type { Json } from '../../../base/json/json.ts';
import type { BashInput } from '../../builtin/bash/shells.ts';
import type { HostContext } from '../../builtin/host-context.ts';
import { runSafely } from '../../run-safely.ts';
import { type ToolResult, textResult } from '../../tool.ts';

/** Runs a tool on input that the server has checked. Never rejects. */
export async function runTool(name: WorkspaceToolName, input: Json, context: HostContext): Promise<ToolResult> {
  return await runSafely(name, async () => {
    const run = await tools[name]();
    // The server has checked the input against the definition of this tool.
    const result = await run(input as never, context);
    return typeof result === 'string' ? textResult(result) : result;
  });
}

type RunInHost = (input: never, context: HostContext) => Promise<ToolResult | string>;

/** The tools, each loaded by its first call: the first call of a session waits for everything that its host loads. */
const tools: { readonly [Name in WorkspaceToolName]: () => Promise<RunInHost> } = {
  bash: async () => async (input: BashInput, context) => await context.shells.run(input, context),
  read: async () => (await import('../../builtin/read/run-read.ts')).runRead,
  write: async () => (await import('../../builtin/write/run-write.ts')).runWrite,
  edit: async () => (await import('../../builtin/edit/run-edit.ts')).runEdit,
  glob: async () => (await import('../../builtin/glob/run-glob.ts')).runGlob,
  grep: async () => (await import('../../builtin/grep/run-grep.ts')).runGrep,
};
