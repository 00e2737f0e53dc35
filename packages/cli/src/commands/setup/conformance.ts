import type { DeclareCommand } from '../context.ts';

/** `fleetloom conformance`. */
export const declareConformance: DeclareCommand = (program, { io, done }) =>
  program
    .command('conformance')
    .description('Test with the official SDK whether a server implements the Managed Agents API')
    .argument('<url>', 'base URL of the server')
    .option('--key <key>', 'API key (default: FLEETLOOM_KEY; not needed for a server on this machine)')
    .option('--only <numbers>', 'run only these checks, for example 85,87-90')
    .option('--thorough', 'repeat checks that depend on timing many times')
    .option('--json', 'print the report as one JSON object')
    .addHelpText('after', EXAMPLES)
    .action(async (url: string, options: object) => {
      const { conformance } = await import('../../conformance/conformance.ts');
      done(await conformance(io, url, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom conformance http://127.0.0.1:4280 --key $FLEETLOOM_KEY
  $ fleetloom conformance http://127.0.0.1:4280 --only 85,87-90
  $ fleetloom conformance https://agents.example.com --json | jq '.checks[] | select(.type == "failed")'

The checks create their own agents, environments and sessions and delete them afterwards. A check that needs a feature the
server does not have, such as scripted models, is reported as not applicable.

Exit codes:
  0    no check failed
  1    a check failed, or a known gap has been closed
  2    wrong usage, or the server cannot be reached
  130  stopped with Ctrl-C
`;
