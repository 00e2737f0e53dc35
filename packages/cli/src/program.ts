import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { EXIT_CODE_HELP, exitCode } from './exit-code.ts';
import type { Io } from './io.ts';
import { UsageError } from './usage-error.ts';
import { VERSION } from './version.ts';

/** Runs the command line and returns its exit code. Each command is loaded when it is called. */
export async function runProgram(io: Io, args: readonly string[]): Promise<number> {
  let code: number = exitCode.ok;
  const done = (result: number) => {
    code = result;
  };
  try {
    await createProgram(io, done).parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.usage;
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`fleetloom: ${error.message}\n  ${error.fix}\n`);
    return exitCode.usage;
  }
}

function createProgram(io: Io, done: (code: number) => void): Command {
  const program = new Command('fleetloom')
    .description('Agents that work at once, each in its own branch: reads what Claude Code prints as stream-json.')
    .version(VERSION)
    .showHelpAfterError('(--help shows how)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
    .addHelpText('after', PROGRAM_EXAMPLES + EXIT_CODE_HELP);

  program
    .command('translate')
    .description('show a stream as a live tree of agents, or print its agent events')
    .argument('[file]', FILE)
    .addOption(new Option('--json', 'print agent events, one JSON object per line (default into a pipe or file)'))
    .addOption(new Option('--tree', 'show the tree of agents (default on a terminal)'))
    .addHelpText('after', TRANSLATE_EXAMPLES + EXIT_CODE_HELP)
    .action(async (file: string | undefined, options: object) => {
      const { translate } = await import('./commands/translate.ts');
      done(await translate(io, file, options));
    });

  program
    .command('stats')
    .description('count what each agent did: blocks, tool calls, tokens, time, status, and what it cost')
    .argument('[file]', FILE)
    .option('--json', 'print one JSON object')
    .addHelpText('after', STATS_EXAMPLES + EXIT_CODE_HELP)
    .action(async (file: string | undefined, options: object) => {
      const { stats } = await import('./commands/stats.ts');
      done(await stats(io, file, options));
    });

  program
    .command('inspect')
    .description('show everything that every agent was given, said and did')
    .argument('[file]', FILE)
    .option('--json', 'print the whole tree as one JSON object')
    .addHelpText('after', INSPECT_EXAMPLES + EXIT_CODE_HELP)
    .action(async (file: string | undefined, options: object) => {
      const { inspect } = await import('./commands/inspect.ts');
      done(await inspect(io, file, options));
    });

  program
    .command('demo')
    .description('play a recorded run of several agents, without a key or an account')
    .option('--speed <factor>', 'how fast: 2 is twice as fast, 0.5 half as fast', parseSpeed, 1)
    .addHelpText('after', DEMO_EXAMPLES)
    .action(async (options: { speed: number }) => {
      const { demo } = await import('./commands/demo.ts');
      done(await demo(io, options));
    });

  return program;
}

function parseSpeed(value: string): number {
  const speed = Number(value);
  if (!(speed > 0) || !Number.isFinite(speed)) throw new InvalidArgumentError('Give a number above 0, such as 2.');
  return speed;
}

const FILE = 'a recorded stream, also gzipped; without it or with "-" standard input is read';

const PROGRAM_EXAMPLES = `
Examples:
  $ claude -p "Review this repository" --output-format stream-json --verbose | fleetloom translate
  $ fleetloom demo
  $ fleetloom inspect run.ndjson
`;

const TRANSLATE_EXAMPLES = `
Examples:
  $ claude -p "Review this repository" --output-format stream-json --verbose | fleetloom translate
  $ claude -p "…" --output-format stream-json --verbose | tee run.ndjson | fleetloom translate
  $ fleetloom translate run.ndjson --tree > tree.txt
  $ fleetloom translate run.ndjson --json | jq -c 'select(.type == "tool_use")'

Sub-agents in the foreground print their own text only if claude is called with --forward-subagent-text
(2.1.325 has it, 2.1.197 does not); without it their calls and reports are shown.
`;

const STATS_EXAMPLES = `
Examples:
  $ fleetloom stats run.ndjson
  $ fleetloom stats run.ndjson --json | jq .total.cost_usd
`;

const INSPECT_EXAMPLES = `
Examples:
  $ fleetloom inspect run.ndjson | less -R
  $ fleetloom inspect run.ndjson --json | jq '.threads[] | {key, status}'
`;

const DEMO_EXAMPLES = `
Examples:
  $ fleetloom demo
  $ fleetloom demo --speed 3

Exit codes:
  0    played to the end
  130  stopped with Ctrl-C`;
