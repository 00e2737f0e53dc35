import type { DeclareCommand } from '../context.ts';
import { STREAM_EXIT_CODES } from '../exit-code-help.ts';
import { STREAM_FILE } from './stream-file.ts';

/** `fleetloom stats`. */
export const declareStats: DeclareCommand = (program, { io, done }) =>
  program
    .command('stats')
    .description('Print blocks, tool calls, tokens, time, cost and status of each agent in a stream')
    .argument('[file]', STREAM_FILE)
    .option('--json', 'print one JSON object')
    .addHelpText('after', EXAMPLES + STREAM_EXIT_CODES)
    .action(async (file: string | undefined, options: object) => {
      const { stats } = await import('../../stream-json/stats/stats.ts');
      done(await stats(io, file, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom stats run.ndjson
  $ fleetloom stats run.ndjson --json | jq .total.cost_usd
`;
