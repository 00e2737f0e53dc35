import { Argument } from 'commander';
import type { DeclareCommand } from '../context.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom __ids`: called by completion scripts, and hidden from the help. */
export const declareIds: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('__ids', { hidden: true }))
    .description('Print ids that begin with a word, for completion scripts')
    .addArgument(new Argument('<kind>', 'what is completed').choices(['session', 'rule']))
    .argument('[word]', 'what is typed so far', '')
    .addHelpText('after', '\nExamples:\n  $ fleetloom __ids session 01k\n')
    .action(async (kind: string, word: string, options: object) => {
      const { listIds } = await import('../../sessions/list-ids.ts');
      done(await listIds(io, kind, word, options));
    });
