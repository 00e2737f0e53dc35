import { dirname } from 'node:path';
import { toolLimits } from '../../limits.ts';
import { type BubblewrapOptions, openBubblewrap } from '../../sandbox/bubblewrap.ts';
import { explainShortage } from '../../sandbox/explain-shortage.ts';
import type { Sandbox, SandboxState } from '../../sandbox/sandbox.ts';
import { runToEnd } from '../../run-to-end.ts';
import { ToolFailure } from '../../tool-failure.ts';
import { findHostProgram, findSandboxedProgram } from './host-program.ts';
import { startLaunch } from './start-launch.ts';

/**
 * A sandbox in which the tool host runs, if there is one. Node may be installed such that it does not start inside, with
 * libraries in other directories: then the sandbox counts as unavailable. Throws a {@link ToolFailure} when the
 * machine has no room to try it.
 */
export async function openHostSandbox(options: BubblewrapOptions): Promise<SandboxState> {
  const state = await explainShortage(() => openBubblewrap(options));
  if (state.type !== 'ready') return state;
  const problem = await tryNode(state.sandbox);
  return problem === undefined ? state : { type: 'unavailable', reason: problem };
}

async function tryNode(sandbox: Sandbox): Promise<string | undefined> {
  const { node, readOnlyPaths } = findSandboxedProgram();
  // The check does not use the workspace, so any directory works.
  const workspace = dirname(findHostProgram().main);
  const launch = sandbox.launch({
    program: node,
    args: ['--version'],
    workspace,
    isWorkspaceWritable: false,
    readOnlyPaths,
  });
  const child = await startLaunch(launch, { cwd: workspace }).catch((error: unknown) => {
    throw new ToolFailure(`the sandbox cannot be tried out now (${String(error)}): call again later`, { cause: error });
  });
  const { code, complaint } = await runToEnd(child, toolLimits.toolHostStartMs);
  if (code === null) throw new ToolFailure('the sandbox cannot be tried out now (it did not answer): call again later');
  return code === 0 ? undefined : `Node (${process.execPath}) does not start in the sandbox (${complaint})`;
}
