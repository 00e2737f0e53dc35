import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom send`. */
export const declareSend: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('send'))
    .description('Send a message to a session or interrupt it; prints the ids of the events sent')
    .argument('<session>', 'session id')
    .argument('[text]', 'message to the coordinator')
    .option('--interrupt', 'interrupt all threads first')
    .option('--thread <id>', 'with --interrupt: interrupt only this thread')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (session: string, text: string | undefined, options: object) => {
      const { send } = await import('../../sessions/send.ts');
      done(await send(io, session, text, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom send sesn_01… "Look at the tests too"
  $ fleetloom send sesn_01… --interrupt "Stop, and begin with the tests"
  $ fleetloom send sesn_01… --interrupt --thread sthr_01…
`;
