import { type InstallProblem, listLacks, type ProgramCapabilities } from '@fleetloom/server';
import type { Finding } from './finding.ts';

/** A program that `doctor` looks for. */
export interface DoctoredProgram {
  /** The name of the program for people. */
  readonly name: string;
  /** The engine prefix of its models, such as `codex`. */
  readonly prefix: string;
  readonly capabilities: ProgramCapabilities;
  /** A note about the source of the key for its model requests. */
  readonly login?: string | undefined;
}

/** The result of the search for a program on this machine. */
export type FoundOnMachine =
  | { readonly type: 'found'; readonly program: { readonly path: string; readonly version: string | null } }
  | { readonly type: 'problem'; readonly problem: InstallProblem<string> };

/** Findings about a program: its version, and what its sessions lack compared with those of Claude Code. */
export function describeProgram(about: DoctoredProgram, found: FoundOnMachine): readonly Finding[] {
  const { name, prefix, capabilities, login } = about;
  if (found.type === 'problem') return [toProblem(about, found.problem)];
  const { path, version } = found.program;
  const where = version === null ? path : `${version} (${path})`;
  const lacks = listLacks(capabilities).join('; ');
  return [
    { name, state: 'ok', text: `${where}: sessions on ${prefix}/default run on it` },
    ...(login === undefined ? [] : [{ name, state: 'note' as const, text: login }]),
    { name, state: 'note', text: `sessions on ${prefix}/… differ: ${lacks}` },
  ];
}

/** Programs are optional: their absence is a note, but an installed one that does not work is a problem. */
function toProblem({ name, prefix }: DoctoredProgram, { reason, problem, advice }: InstallProblem<string>): Finding {
  const fix = `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`;
  if (reason !== 'not_found') return { name, state: 'problem', text: problem, fix };
  return { name, state: 'note', text: `${problem}: models such as ${prefix}/default are not available`, fix };
}
