import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom continue`. */
export const declareContinue: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('continue'))
    .description(
      'Resume a session after a turn, a sub-agent or background work failed, for example in a server restart',
    )
    .argument('<session>', 'session id')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (session: string, options: object) => {
      const { continueSession } = await import('../../sessions/continue.ts');
      done(await continueSession(io, session, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom continue sesn_01…
`;
