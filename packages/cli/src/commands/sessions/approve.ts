import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom approve`. */
export const declareApprove: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('approve'))
    .description('Approve pending tool calls and print their ids; without ids, list the pending calls')
    .argument('<session>', 'session id')
    .argument('[tool_use_id...]', 'ids of the tool calls')
    .option('--all', 'approve all pending tool calls')
    .option('--input <json>', 'run one tool call with this input instead of its own; @file reads it from a file')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (session: string, ids: string[], options: object) => {
      const { approve } = await import('../../sessions/approve.ts');
      done(await approve(io, 'allow', session, ids, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom approve sesn_01…
  $ fleetloom approve sesn_01… sevt_01… --input '{"command":"npm test"}'
  $ fleetloom approve sesn_01… --all
`;
