import type { DeclareCommand } from '../context.ts';
import { serverOption, withServer } from '../server-options.ts';

/** `fleetloom doctor`. */
export const declareDoctor: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('doctor'))
    .description('Check the setup of this machine: what works, what does not, and how to fix it')
    .option('--data <directory>', serverOption.data)
    .option('--claude <program>', serverOption.claude)
    .option('--codex <program>', serverOption.codex)
    .option('--opencode <program>', serverOption.opencode)
    .option('--acp <agent...>', serverOption.acp)
    .option('--acp-login', serverOption.acpLogin)
    .option('--programs <workspace...>', serverOption.programs('those of the last start'))
    .option('--program-env <name...>', serverOption.programEnv)
    .option('--unsandboxed-programs', serverOption.unsandboxedPrograms)
    .option('--json', 'print one JSON object per finding')
    .addHelpText('after', EXAMPLES)
    .action(async (options: object) => {
      const { doctor } = await import('../../doctor/doctor.ts');
      const { findWorktrees } = await import('../../changes/find-worktrees.ts');
      done(await doctor(io, options, findWorktrees));
    });

const EXAMPLES = `
Examples:
  $ fleetloom doctor
  $ fleetloom doctor --url http://127.0.0.1:4280 --json | jq -c 'select(.state == "problem")'

Exit codes:
  0    no problem found
  1    at least one problem found; the output states how to fix it
  2    wrong usage
`;
