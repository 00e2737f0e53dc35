import type { FleetMachine } from '@fleetloom/protocol/fleet';
import type { Clock } from '../base/clock.ts';
import { checkToolPrograms } from '../tools/registry/tool-programs.ts';
import { findGit } from '../workspaces/git/find-git.ts';
import { compositionLimits } from './limits.ts';

/** Creates a function that finds the requirements of tools on this machine. The search starts programs, so its result is cached. */
export function createMachineFinder(
  clock: Pick<Clock, 'steady'>,
  find: () => Promise<FleetMachine> = findMachine,
): () => Promise<FleetMachine> {
  let found: { readonly at: number; readonly machine: Promise<FleetMachine> } | undefined;
  return async () => {
    if (found === undefined || clock.steady() - found.at >= compositionLimits.machineMs)
      found = { at: clock.steady(), machine: find() };
    try {
      return await found.machine;
    } catch (error) {
      found = undefined;
      throw error;
    }
  };
}

async function findMachine(): Promise<FleetMachine> {
  const [{ sandboxProblem, sandboxGaps, hasRipgrep }, git] = await Promise.all([checkToolPrograms(), findGit()]);
  return {
    sandbox_problem: sandboxProblem,
    sandbox_gaps: sandboxGaps.map(({ text, fix }) => ({ text, fix })),
    has_ripgrep: hasRipgrep,
    git_version: git.type === 'found' ? git.version : null,
    git_problem: git.type === 'found' ? null : git.reason,
  };
}
