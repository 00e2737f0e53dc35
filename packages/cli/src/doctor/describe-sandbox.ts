import type { ToolPrograms } from '@fleetloom/server';
import type { Finding } from './finding.ts';

/** Findings about the sandbox for bash, with one note for each missing protection. */
export function describeSandbox(
  problem: ToolPrograms['sandboxProblem'],
  gaps: ToolPrograms['sandboxGaps'],
): readonly Finding[] {
  if (problem !== null) {
    const fix = 'On Linux, install bubblewrap; elsewhere, --unsandboxed-bash lets agents run commands as your user.';
    return [{ name: 'Sandbox', state: 'note', text: `${problem}: agents cannot run bash`, fix }];
  }
  const works: Finding = { name: 'Sandbox', state: 'ok', text: 'bubblewrap works: agents can run bash' };
  return [works, ...gaps.map(({ text, fix }): Finding => ({ name: 'Sandbox', state: 'note', text, fix }))];
}

/** A finding on whether commands can reach other hosts, and which package managers can install the packages of environments. */
export function describeEgress(
  problem: ToolPrograms['sandboxProblem'],
  managers: ToolPrograms['packageManagers'],
): Finding {
  const name = 'Egress';
  if (problem !== null) {
    const text =
      'the egress proxy needs the sandbox: sessions with limited networking run no commands, and commands without a sandbox have the network of the machine, no proxy, no variables of vaults and no packages';
    return { name, state: 'note', text, fix: 'Install bubblewrap.' };
  }
  const packages = managers.length === 0 ? 'no package manager is installed' : `packages: ${managers.join(', ')}`;
  return { name, state: 'ok', text: `commands reach the hosts of their environment through the proxy; ${packages}` };
}
