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
