import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom program` with its sub-commands. */
export const declareProgram: DeclareCommand = (program, context) => {
  const group = program
    .command('program')
    .description('Query or rewind the program that runs a session, such as Claude Code')
    .addHelpText('after', EXAMPLES);
  for (const declare of [declareUsage, declareDiff, declareRewind]) declare(group, context);
  return group;
};

const declareUsage: DeclareCommand = (group, { io, done }) =>
  withServer(group.command('usage'))
    .description('Print the usage of the running program of a session, by model')
    .argument('<session>', 'session id')
    .option('--json', 'print one JSON object, as the API returns it')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (session: string, options: object) => {
      const { programUsage } = await import('../../sessions/program-usage.ts');
      done(await programUsage(io, session, options));
    });

const declareDiff: DeclareCommand = (group, { io, done }) =>
  withServer(group.command('diff'))
    .description('Print how the workspace of a session differs from its repository')
    .argument('<session>', 'session id')
    .option('--json', 'print one JSON object, as the API returns it')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (session: string, options: object) => {
      const { programDiff } = await import('../../sessions/program-diff.ts');
      done(await programDiff(io, session, options));
    });

const declareRewind: DeclareCommand = (group, { io, done }) =>
  withServer(group.command('rewind'))
    .description('Restore files that the main agent edited to their state before a message; prints their paths')
    .argument('<session>', 'session id')
    .argument('[message]', 'id of a user.message event (default: the newest)')
    .option('--dry-run', 'print the paths without changing a file')
    .option('--json', 'print one JSON object, as the API returns it')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (session: string, message: string | undefined, options: object) => {
      const { programRewind } = await import('../../sessions/program-rewind.ts');
      done(await programRewind(io, session, message, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom program usage sesn_01…
  $ fleetloom program diff sesn_01…
  $ fleetloom program rewind sesn_01… --dry-run
  $ fleetloom program rewind sesn_01… sevt_01…
`;
