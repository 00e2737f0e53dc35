import type { FleetProgram, FleetSettings } from '@fleetloom/protocol/fleet';

/** One fact about the server's machine, as `doctor` reports it. */
export interface Finding {
  readonly name: string;
  /** `note`: optional or degraded, but not broken. */
  readonly state: 'ok' | 'note' | 'problem';
  readonly text: string;
  readonly fix?: string | undefined;
}

/** Findings about the parts that run agents and their tools: models, programs, sandbox, search, git. */
export function listFindings(settings: FleetSettings, programs: readonly FleetProgram[]): readonly Finding[] {
  const { model_endpoint: endpoint, machine } = settings;
  return [
    endpoint === null
      ? {
          name: 'Models',
          state: 'note',
          text: 'scripted models only: no API key is set.',
          fix: 'Start the server with ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN; ANTHROPIC_BASE_URL sets another endpoint.',
        }
      : { name: 'Models', state: 'ok', text: `${endpoint}, and scripted models` },
    ...programs.map(toFinding),
    machine.sandbox_problem === null
      ? { name: 'Sandbox', state: 'ok', text: 'agents can run bash in the sandbox' }
      : {
          name: 'Sandbox',
          state: 'note',
          text: `${machine.sandbox_problem}: agents cannot run bash.`,
          fix: 'On Linux, install bubblewrap; elsewhere, --unsandboxed-bash lets agents run commands as your user.',
        },
    ...machine.sandbox_gaps.map(({ text, fix }): Finding => ({ name: 'Sandbox', state: 'note', text, fix })),
    machine.has_ripgrep
      ? { name: 'Search', state: 'ok', text: 'ripgrep' }
      : { name: 'Search', state: 'note', text: 'ripgrep is not installed: search is slower in large workspaces.' },
    machine.git_version === null
      ? {
          name: 'Git',
          state: 'note',
          text: `${machine.git_problem ?? 'git was not found'}: sessions cannot work on git repositories.`,
          fix: 'Install git 2.30 or newer.',
        }
      : { name: 'Git', state: 'ok', text: machine.git_version },
  ];
}

function toFinding({ id, version, is_sandboxed: isSandboxed, problem }: FleetProgram): Finding {
  if (problem !== null) return { name: id, state: 'note', text: problem };
  const where =
    isSandboxed === true ? 'in the sandbox' : 'without a sandbox, with the access of the user who runs the server';
  return { name: id, state: isSandboxed === true ? 'ok' : 'note', text: `${version ?? 'installed'}, ${where}` };
}
