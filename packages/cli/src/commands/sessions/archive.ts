import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withRunServer } from '../server-options.ts';

/** `fleetloom archive`. */
export const declareArchive: DeclareCommand = (program, { io, done }) =>
  withRunServer(program.command('archive'))
    .description('End idle sessions and keep them readable; a directory that one worked on in place is released')
    .argument('<session...>', 'session ids')
    .option('--json', 'print the API objects, one per line')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (sessions: string[], options: object) => {
      const { archive } = await import('../../changes/archive.ts');
      done(await archive(io, sessions, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom archive sesn_01…

An archived session takes no messages. Its changes can still be read, applied and discarded.
`;
