import type { ToolPrograms } from '@fleetloom/server';
import type { Finding } from './finding.ts';

/** Whether agents can run programs on this machine, and one note for each protection that is missing. */
export function describeSandbox(
  problem: ToolPrograms['sandboxProblem'],
  gaps: ToolPrograms['sandboxGaps'],
): readonly Finding[] {
  if (problem !== null) {
    const fix = 'On Linux install bubblewrap; elsewhere --unsandboxed-bash lets agents run what you can run.';
    return [{ name: 'Sandbox', state: 'note', text: `${problem}: bash is refused to agents`, fix }];
  }
  const works: Finding = { name: 'Sandbox', state: 'ok', text: 'bubblewrap works: agents may run bash' };
  return [works, ...gaps.map(({ text, fix }): Finding => ({ name: 'Sandbox', state: 'note', text, fix }))];
}
