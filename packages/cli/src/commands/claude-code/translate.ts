import type { DeclareCommand } from '../context.ts';
import { STREAM_EXIT_CODES } from '../exit-code-help.ts';
import { STREAM_FILE } from './stream-file.ts';

/** `fleetloom translate`. */
export const declareTranslate: DeclareCommand = (program, { io, done }) =>
  program
    .command('translate')
    .description('Show Claude Code’s stream-json as a live tree of agents, or print its agent events')
    .argument('[file]', STREAM_FILE)
    .option('--json', 'print agent events, one JSON object per line (default if the output is a pipe or file)')
    .option('--tree', 'show the tree of agents (default on a terminal)')
    .addHelpText('after', EXAMPLES + STREAM_EXIT_CODES)
    .action(async (file: string | undefined, options: object) => {
      const { translate } = await import('../../stream-json/translate.ts');
      done(await translate(io, file, options));
    });

const EXAMPLES = `
Examples:
  $ claude -p "Review this repository" --output-format stream-json --verbose | fleetloom translate
  $ claude -p "…" --output-format stream-json --verbose | tee run.ndjson | fleetloom translate
  $ fleetloom translate run.ndjson --tree > tree.txt
  $ fleetloom translate run.ndjson --json | jq -c 'select(.type == "tool_use")'

Foreground sub-agents print their own text only if claude runs with --forward-subagent-text
(2.1.325 has it, 2.1.197 does not); without it, their tool calls and reports are shown.
`;
