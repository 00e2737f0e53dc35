import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom threads`. */
export const declareThreads: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('threads'))
    .description('List the threads of a session as a tree')
    .argument('<session>', 'session id')
    .option('--json', 'print the API objects, one per line')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (session: string, options: object) => {
      const { listThreads } = await import('../../watch/list-threads.ts');
      done(await listThreads(io, session, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom threads sesn_01…
  $ fleetloom threads sesn_01… --json | jq -r 'select(.status == "running") | .agent.name'
`;
