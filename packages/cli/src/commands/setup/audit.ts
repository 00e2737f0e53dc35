import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom audit`. */
export const declareAudit: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('audit'))
    .description('Print the audit log of a workspace as JSON lines, or verify it')
    .option('--verify', 'check the hashes of all entries; prints the anchor of the newest one')
    .option('--anchor <seq:hash>', 'with --verify: an entry that the log had before, as --verify has printed it')
    .option('--after <seq>', 'begin behind this entry')
    .option('--follow', 'keep printing entries as they are added')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (options: object) => {
      const { audit } = await import('../../server/audit.ts');
      done(await audit(io, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom audit | jq .entry.action
  $ fleetloom audit --verify
  $ fleetloom audit --verify --anchor 1204:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08

It needs a key with the scope admin. With --verify the exit code is 1 if the log was changed.
`;
