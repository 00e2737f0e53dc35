import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom answer`. */
export const declareAnswer: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('answer'))
    .description('Answer an agent’s question or return a custom tool’s result; without an answer, list what is pending')
    .argument('<session>', 'session id')
    .argument('[answer...]', 'id of the tool call (optional if only one is pending), then one text per question')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (session: string, given: string[], options: object) => {
      const { answer } = await import('../../sessions/answer.ts');
      done(await answer(io, session, given, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom answer sesn_01…
  $ fleetloom answer sesn_01… "Blue"
  $ fleetloom answer sesn_01… sevt_01… "Blue" "No tests"
`;
