import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom cancel`. */
export const declareCancel: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('cancel'))
    .description('Cancel a run and interrupt every thread working on it; prints how the run ended')
    .argument('<request>', 'id of the run, from its first event, or id of its session')
    .option('--no-wait', 'do not wait until the run has ended')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (request: string, options: object) => {
      const { cancel } = await import('../../sessions/cancel.ts');
      done(await cancel(io, request, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom cancel sesn_01…
  $ fleetloom cancel req_01…
  $ fleetloom cancel req_01… --no-wait
`;
