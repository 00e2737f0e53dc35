import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withRunServer } from '../server-options.ts';

/** `fleetloom delete`. */
export const declareDelete: DeclareCommand = (program, { io, done }) =>
  withRunServer(program.command('delete'))
    .description('Delete idle sessions with their logs and workspaces, after saying what is lost')
    .argument('<session...>', 'session ids')
    .option('--yes', 'do not ask')
    .option('--json', 'print the API objects, one per line')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (sessions: string[], options: object) => {
      const { deleteSessions } = await import('../../changes/delete.ts');
      done(await deleteSessions(io, sessions, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom delete sesn_01…
  $ fleetloom delete sesn_01… sesn_02… --yes

"fleetloom archive" keeps the log and the changes. "fleetloom discard" removes only the workspace.
`;
