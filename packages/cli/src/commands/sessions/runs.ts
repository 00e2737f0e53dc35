import type { DeclareCommand } from '../context.ts';

/** `fleetloom runs`. */
export const declareRuns: DeclareCommand = (program, { io, done }) =>
  program
    .command('runs')
    .description('List runs on repositories of this machine whose changes wait to be taken or left, newest first')
    .option('--here', 'only runs on the repository of the working directory')
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', EXAMPLES)
    .action(async (options: object) => {
      const { listRuns } = await import('../../changes/list-runs.ts');
      done(await listRuns(io, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom runs
  $ fleetloom runs --here
  $ fleetloom diff              # of the last run on this repository

These are runs without --url, --data or FLEETLOOM_URL. "fleetloom sessions" lists the sessions of a server.
A run that changed nothing, or that was applied with --apply or discarded, is not kept.
`;
