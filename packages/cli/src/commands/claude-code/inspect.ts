import type { DeclareCommand } from '../context.ts';
import { STREAM_EXIT_CODES } from '../exit-code-help.ts';
import { STREAM_FILE } from './stream-file.ts';

/** `fleetloom inspect`. */
export const declareInspect: DeclareCommand = (program, { io, done }) =>
  program
    .command('inspect')
    .description('Print the whole transcript of every agent in a stream: prompts, text, tool calls and results')
    .argument('[file]', STREAM_FILE)
    .option('--json', 'print the whole tree as one JSON object')
    .addHelpText('after', EXAMPLES + STREAM_EXIT_CODES)
    .action(async (file: string | undefined, options: object) => {
      const { inspect } = await import('../../stream-json/inspect/inspect.ts');
      done(await inspect(io, file, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom inspect run.ndjson | less -R
  $ fleetloom inspect run.ndjson --json | jq '.threads[] | {key, status}'
`;
