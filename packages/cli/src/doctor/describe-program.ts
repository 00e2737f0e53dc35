import { type InstallProblem, listLacks, type ProgramCapabilities } from '@fleetloom/server';
import type { Finding } from './finding.ts';

/** What is looked for. */
export interface DoctoredProgram {
  /** As people write it. */
  readonly name: string;
  /** What its models begin with: `codex`. */
  readonly prefix: string;
  readonly capabilities: ProgramCapabilities;
  /** Where its model requests get their key from. */
  readonly login?: string | undefined;
}

/** What was found. */
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
