import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom logins` with its sub-commands. */
export const declareLogins: DeclareCommand = (program, context) => {
  const logins = program
    .command('logins')
    .description('List the browsers that are signed in to the dashboard, and sign them out')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES);
  for (const declare of [declareList, declareRevoke]) declare(logins, context);
  return logins;
};

const declareList: DeclareCommand = (logins, { io, done }) =>
  withServer(logins.command('list', { isDefault: true }))
    .description('List the signed-in browsers of the workspace, newest first')
    .option('--json', 'print one JSON object per login')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (options: object) => {
      const { listLogins } = await import('../../server/logins.ts');
      done(await listLogins(io, options));
    });

const declareRevoke: DeclareCommand = (logins, { io, done }) =>
  withServer(logins.command('revoke'))
    .description('Sign browsers out; their open pages stop within a second. Prints their ids')
    .argument('<id...>', 'ids of the logins, from "logins list"')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (ids: string[], options: object) => {
      const { revokeLogins } = await import('../../server/logins.ts');
      done(await revokeLogins(io, ids, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom logins
  $ fleetloom logins revoke 001793016000000-0123456789abcdef0123456789abcdef

Both need a key with the scope admin.
`;
