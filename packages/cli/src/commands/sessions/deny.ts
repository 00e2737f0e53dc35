import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom deny`. */
export const declareDeny: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('deny'))
    .description('Deny pending tool calls and print their ids; without ids, list the pending calls')
    .argument('<session>', 'session id')
    .argument('[tool_use_id...]', 'ids of the tool calls')
    .option('--all', 'deny all pending tool calls')
    .option('--message <text>', 'reason, sent to the agent')
    .option('--interrupt', 'also interrupt the turn that made the tool call')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (session: string, ids: string[], options: object) => {
      const { approve } = await import('../../sessions/approve.ts');
      done(await approve(io, 'deny', session, ids, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom deny sesn_01…
  $ fleetloom deny sesn_01… sevt_01… --message "Not on this machine"
  $ fleetloom deny sesn_01… --all
`;
