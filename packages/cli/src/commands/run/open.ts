import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom open`. */
export const declareOpen: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('open'))
    .description('Print a login link for the dashboard of a running server and open it in the browser')
    .option('--role <role>', 'rights of the login: viewer, approver, operator or admin (default: those of the key)')
    .option('--no-browser', 'only print the link')
    .option('--json', 'print the link as one line of JSON')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (options: object) => {
      const { openDashboard } = await import('../../start/open-dashboard.ts');
      done(await openDashboard(io, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom open
  $ fleetloom open --no-browser
  $ fleetloom open --role viewer --no-browser

The link signs one browser in, once.
`;
