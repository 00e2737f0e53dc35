import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { CommandError } from './command-error.ts';
import { EXIT_CODE_HELP, exitCode } from './exit-code.ts';
import type { Io } from './io.ts';
import { logForms } from './request-lines.ts';
import { addServerCommands } from './server-commands.ts';
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
    if (!(error instanceof CommandError)) throw error;
    io.stderr.write(`fleetloom: ${error.message}\n  ${error.fix}\n`);
    return error.exitCode;
  }
}

function createProgram(io: Io, done: (code: number) => void): Command {
  const program = new Command('fleetloom')
    .description('Runs, watches and steers fleets of agents, and reads what Claude Code prints as stream-json.')
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

  program
    .command('serve')
    .description('run the server: agents, sessions and threads as the official SDK speaks of them')
    .option('--port <number>', 'where to listen; 0 takes any free port (default 4280, or PORT)', parsePort)
    .option('--host <address>', 'the address to listen on (default 127.0.0.1, or HOST)')
    .option('--data <directory>', 'where everything is kept (default ~/.local/share/fleetloom, or FLEETLOOM_DATA)')
    .option('--scripts <directory>', 'scripts for the scripted model, one JSON or YAML file each')
    .option('--model-base-url <url>', 'the Messages endpoint of other models (default ANTHROPIC_BASE_URL)')
    .option('--open', 'ask for no key; only possible on this machine')
    .option('--unsandboxed-bash', 'let agents run bash without a sandbox where there is none')
    .option('--json', 'print one line with the address and the key as JSON')
    .option('--rate-limit <number>', 'requests that each key may make in a second', parseRate)
    .addOption(new Option('--log <form>', 'tell of requests on standard error').choices(logForms).default('off'))
    .addHelpText('after', SERVE_EXAMPLES)
    .action(async (options: object) => {
      const { serve } = await import('./commands/serve.ts');
      done(await serve(io, options));
    });

  addServerCommands(program, io, done);

  program
    .command('conformance')
    .description('ask a server, with the official SDK, whether it keeps the Managed Agents contract')
    .argument('<url>', 'the base URL of the server')
    .option('--key <key>', 'a key of the server (default FLEETLOOM_KEY)')
    .option('--only <numbers>', 'only these checks, such as 85,87-90')
    .option('--thorough', 'repeat what is about chance many times')
    .option('--json', 'print the report as one JSON object')
    .addHelpText('after', CONFORMANCE_EXAMPLES)
    .action(async (url: string, options: object) => {
      const { conformance } = await import('./commands/conformance.ts');
      done(await conformance(io, url, options));
    });

  return program;
}

function parsePort(value: string): number {
  const port = Number(value);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && value.trim() !== '') return port;
  throw new InvalidArgumentError('Give a number from 0 to 65535.');
}

function parseRate(value: string): number {
  const rate = Number(value);
  if (Number.isInteger(rate) && rate >= 1) return rate;
  throw new InvalidArgumentError('Give a whole number from 1 on.');
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
  $ fleetloom run "Review this repository" --agents .claude/agents
  $ fleetloom serve
  $ fleetloom watch
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

const SERVE_EXAMPLES = `
Examples:
  $ fleetloom serve --open
  $ ANTHROPIC_API_KEY=… fleetloom serve --port 8080 --data ./data
  $ fleetloom serve --port 0 --json | head -1 | jq -r .url

Exit codes:
  0    stopped with Ctrl-C or SIGTERM
  2    wrong usage, the port is taken, or the data directory is in use
`;

const CONFORMANCE_EXAMPLES = `
Examples:
  $ fleetloom conformance http://127.0.0.1:4280 --key $FLEETLOOM_KEY
  $ fleetloom conformance http://127.0.0.1:4280 --only 85,87-90
  $ fleetloom conformance https://agents.example.com --json | jq '.checks[] | select(.type == "failed")'

It makes agents, environments and sessions of its own and clears them away. What a server does not have, such as
scripted models, is reported as not applicable.

Exit codes:
  0    nothing failed
  1    a check failed, or a known gap is none any more
  2    wrong usage, or the server cannot be reached
  130  stopped with Ctrl-C
`;

const DEMO_EXAMPLES = `
Examples:
  $ fleetloom demo
  $ fleetloom demo --speed 3

Exit codes:
  0    played to the end
  130  stopped with Ctrl-C`;
