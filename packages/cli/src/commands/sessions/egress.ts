import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom egress`. */
export const declareEgress: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('egress'))
    .description('List the connections of the commands of a session to other hosts, allowed and refused, newest first')
    .argument('<session>', 'session id')
    .option('--refused', 'list only refused connections')
    .option('--json', 'print one JSON object per line, as the API returns it')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (session: string, options: object) => {
      const { listEgress } = await import('../../sessions/list-egress.ts');
      done(await listEgress(io, session, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom egress sesn_01…
  $ fleetloom egress sesn_01… --refused --json`;
