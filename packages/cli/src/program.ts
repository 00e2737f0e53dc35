import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { CommandError } from './command-error.ts';
import { type Shell, shells } from './completion/scripts.ts';
import { demoAgents } from './demo-fleet/tasks.ts';
import { EXIT_CODE_HELP, exitCode } from './exit-code.ts';
import type { Io } from './io.ts';
import { limits } from './limits.ts';
import { logForms } from './request-lines.ts';
import { addServerCommands } from './server-commands.ts';
import { VERSION } from './version.ts';
import { writeText } from './write-text.ts';

/** Runs the command line and returns its exit code. Each command is loaded when it is called. */
export async function runProgram(io: Io, args: readonly string[]): Promise<number> {
  let code: number = exitCode.ok;
  const done = (result: number) => {
    code = result;
  };
  try {
    await createProgram(io, done).parseAsync(withCommand(args), { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.usage;
    if (!(error instanceof CommandError)) throw error;
    io.stderr.write(`fleetloom: ${error.message}\n  ${error.fix}\n`);
    return error.exitCode;
  }
}

/** Without a command it is `start`. A default of commander's would take a misspelt command for an argument of it. */
function withCommand(args: readonly string[]): readonly string[] {
  const [first] = args;
  const isForStart = first === undefined || (first.startsWith('-') && !PROGRAM_OPTIONS.has(first));
  return isForStart ? ['start', ...args] : args;
}

const PROGRAM_OPTIONS = new Set(['-h', '--help', '-V', '--version']);

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
    .addHelpText('after', PROGRAM_EXAMPLES + EXIT_CODE_HELP)
    .hook('preAction', async (_, command) => {
      const { readConfig } = await import('./config/read-config.ts');
      const config = readConfig(io.env);
      if (config === undefined) return;
      const { applyConfig } = await import('./config/apply-config.ts');
      applyConfig(io.env, command, config);
    });

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
    .command('start')
    .description('run the server with its dashboard and, at the first start, a demo to watch')
    .option(
      '--demo [agents]',
      `begin a demo of so many agents, ${demoAgents.min} to ${demoAgents.max} (default ${demoAgents.normally})`,
      parseDemo,
    )
    .option('--no-demo', 'begin none, also at the first start')
    .option('--model [model]', 'run the demo on a real model instead of the embedded one; needs ANTHROPIC_API_KEY')
    .option('--no-browser', 'do not open the dashboard')
    .option('--port <number>', 'where to listen; 0 takes any free port (default 4280, or PORT)', parsePort)
    .option('--data <directory>', 'where everything is kept (default ~/.local/share/fleetloom, or FLEETLOOM_DATA)')
    .option('--scripts <directory>', 'scripts for the scripted model instead of those of the demo')
    .option('--unsandboxed-bash', 'let agents run bash without a sandbox where there is none')
    .option('--allow-private-host <host...>', PRIVATE_HOST)
    .option('--claude <program>', CLAUDE)
    .option('--claude-login', 'let it use its own login instead of the key of this server')
    .option('--programs <workspace...>', `${PROGRAMS} (default on this machine: default)`)
    .option('--no-programs', 'let no workspace run the claude program')
    .option('--program-env <name...>', PROGRAM_ENV)
    .option('--unsandboxed-programs', UNSANDBOXED_PROGRAMS)
    .option('--webhook <url...>', WEBHOOK)
    .option('--json', 'print one line with the addresses and the key as JSON')
    .addHelpText('after', START_EXAMPLES)
    .action(async (options: object) => {
      const { start } = await import('./commands/start.ts');
      done(await start(io, options));
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
    .option('--allow-private-host <host...>', PRIVATE_HOST)
    .option('--claude <program>', CLAUDE)
    .option('--claude-login', 'let it use its own login instead of the key of this server')
    .option('--programs <workspace...>', `${PROGRAMS} (default: none)`)
    .option('--program-env <name...>', PROGRAM_ENV)
    .option('--unsandboxed-programs', UNSANDBOXED_PROGRAMS)
    .option('--webhook <url...>', WEBHOOK)
    .option('--json', 'print one line with the address and the key as JSON')
    .option('--rate-limit <number>', 'requests that each key may make in a second', parseRate)
    .option(
      '--database <url>',
      'postgres://… that any number of servers share (default FLEETLOOM_DATABASE, else a file)',
    )
    .option(
      '--database-listen <url>',
      'with --database through a pooler of transactions: the same past it (default FLEETLOOM_DATABASE_LISTEN)',
    )
    .option(
      '--workspace-wait <seconds>',
      `with --database: how long sessions wait for the server with their files (default 60, at least ${limits.workspaceWaitSecondsMin})`,
      parseWait,
    )
    .option(
      '--shared-workspaces <directory>',
      'with --database: a directory that all servers have, for files of sessions',
    )
    .option('--max-sessions <number>', 'with --database: sessions at work here at the same time', parseRate)
    .option('--allow-host <name...>', 'names by which a load balancer or a proxy calls this server')
    .option(
      '--connections <number>',
      'connections at the same time (default: half of the open files that the process may have)',
      parseRate,
    )
    .option(
      '--connections-per-address <number>',
      'of one other machine; raise it for a proxy that all clients come through (default: half of them)',
      parseRate,
    )
    .addOption(new Option('--log <form>', 'tell of requests on standard error').choices(logForms).default('off'))
    .addHelpText('after', SERVE_EXAMPLES)
    .action(async (options: object) => {
      const { serve } = await import('./commands/serve.ts');
      done(await serve(io, options));
    });

  program
    .command('model')
    .description('serve the scripted model alone, for any client of the Messages API, without a key')
    .option('--port <number>', 'where to listen; 0 takes any free port (default 4281)', parsePort)
    .option('--host <address>', 'the address to listen on (default 127.0.0.1)')
    .option('--scripts <directory>', 'scripts for it, one JSON or YAML file each')
    .option('--json', 'print one line with the address as JSON')
    .addHelpText('after', MODEL_EXAMPLES)
    .action(async (options: object) => {
      const { model } = await import('./commands/model.ts');
      done(await model(io, options));
    });

  const keys = program
    .command('keys')
    .description('keys of the server on this machine, whether it runs or not')
    .addHelpText('after', KEYS_EXAMPLES);
  keyed(keys.command('create'))
    .description('make a key and print it: it is told only now')
    .argument('<name>', 'who or what it is for')
    .option('--workspace <name>', 'what it opens; nothing is seen from one workspace to another (default: default)')
    .option('--json', 'print one JSON object')
    .action(async (name: string, options: object) => {
      const { createKey } = await import('./commands/keys.ts');
      done(await createKey(io, name, options));
    });
  keyed(keys.command('list'))
    .description('list the keys, without their secrets')
    .option('--json', 'print one JSON object for each')
    .action(async (options: object) => {
      const { listKeys } = await import('./commands/keys.ts');
      done(await listKeys(io, options));
    });
  keyed(keys.command('revoke'))
    .description('make keys worthless; prints their ids')
    .argument('<id...>', 'their ids, as list shows them')
    .action(async (ids: string[], options: object) => {
      const { revokeKeys } = await import('./commands/keys.ts');
      done(await revokeKeys(io, ids, options));
    });

  addServerCommands(program, io, done);

  program
    .command('conformance')
    .description('ask a server, with the official SDK, whether it keeps the Managed Agents contract')
    .argument('<url>', 'the base URL of the server')
    .option('--key <key>', 'a key of the server (default FLEETLOOM_KEY; a server of this machine needs none)')
    .option('--only <numbers>', 'only these checks, such as 85,87-90')
    .option('--thorough', 'repeat what is about chance many times')
    .option('--json', 'print the report as one JSON object')
    .addHelpText('after', CONFORMANCE_EXAMPLES)
    .action(async (url: string, options: object) => {
      const { conformance } = await import('./commands/conformance.ts');
      done(await conformance(io, url, options));
    });

  program
    .command('doctor')
    .description('look at what is set up on this machine, what is not, and what to do about it')
    .option('--data <directory>', 'the data directory to look at')
    .option('--claude <program>', CLAUDE)
    .option('--programs <workspace...>', PROGRAMS)
    .option('--program-env <name...>', PROGRAM_ENV)
    .option('--unsandboxed-programs', UNSANDBOXED_PROGRAMS)
    .option('--url <url>', 'the server to ask')
    .option('--key <key>', 'its key')
    .option('--json', 'print one JSON object for each finding')
    .addHelpText('after', DOCTOR_EXAMPLES)
    .action(async (options: object) => {
      const { doctor } = await import('./commands/doctor.ts');
      done(await doctor(io, options));
    });

  program
    .command('completion')
    .description('print what your shell needs to complete commands and options')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText('after', COMPLETION_EXAMPLES)
    .action(async (shell: Shell) => {
      const [{ listWords }, { toCompletionScript }] = await Promise.all([
        import('./completion/words.ts'),
        import('./completion/scripts.ts'),
      ]);
      await writeText(io.stdout, toCompletionScript(shell, listWords(program)));
    });

  return program;
}

function keyed(command: Command): Command {
  return command
    .option(
      '--data <directory>',
      'where the server keeps everything (default ~/.local/share/fleetloom, or FLEETLOOM_DATA)',
    )
    .option('--database <url>', 'postgres://… that servers share (default FLEETLOOM_DATABASE, else the data directory)')
    .addHelpText('after', KEYS_EXAMPLES);
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

function parseWait(value: string): number {
  const seconds = Number(value);
  if (Number.isInteger(seconds) && seconds >= limits.workspaceWaitSecondsMin) return seconds;
  throw new InvalidArgumentError(`Give a whole number of seconds from ${limits.workspaceWaitSecondsMin} on.`);
}

function parseSpeed(value: string): number {
  const speed = Number(value);
  if (!(speed > 0) || !Number.isFinite(speed)) throw new InvalidArgumentError('Give a number above 0, such as 2.');
  return speed;
}

const CLAUDE = 'the program behind models such as claude-code/default (default: claude on PATH)';
const PROGRAMS = 'workspaces whose agents may run the claude program, also with commas between them';
const PROGRAM_ENV = 'variables that reach the claude program and every command that it runs; few others do';
const UNSANDBOXED_PROGRAMS = 'run it on the whole machine as the user of the server instead of in a sandbox';
const PRIVATE_HOST = 'private hosts that agents may reach with web_fetch and MCP, as host or host:port';
const WEBHOOK = 'tell this address, by signed requests, what becomes of sessions; may be given several times';
const FILE = 'a recorded stream, also gzipped; without it or with "-" standard input is read';

const PROGRAM_EXAMPLES = `
Examples:
  $ claude -p "Review this repository" --output-format stream-json --verbose | fleetloom translate
  $ fleetloom start
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

function parseDemo(value: string): number {
  const agents = Number(value);
  if (Number.isInteger(agents) && agents >= demoAgents.min && agents <= demoAgents.max) return agents;
  throw new InvalidArgumentError(`Give a number from ${demoAgents.min} to ${demoAgents.max}.`);
}

const START_EXAMPLES = `
Examples:
  $ fleetloom start
  $ fleetloom start --demo 25
  $ fleetloom start --demo --model sonnet
  $ fleetloom start --no-demo --port 0 --data ./fleet

Without a command, fleetloom does the same. A demo works on a copy of a small sample project, on this machine and without a
network; one of its agents asks before it edits. Its scripts are in the data directory, and yours to change.
`;

const DOCTOR_EXAMPLES = `
Examples:
  $ fleetloom doctor
  $ fleetloom doctor --url http://127.0.0.1:4280 --json | jq -c 'select(.state == "problem")'

Exit codes:
  0    nothing is wrong
  1    there is a problem, which is told with what to do
  2    wrong usage
`;

const KEYS_EXAMPLES = `
Examples:
  $ fleetloom keys create ci
  $ KEY=$(fleetloom keys create alice --workspace design)
  $ fleetloom keys list
  $ fleetloom keys revoke key_0123456789abcdef

A running server knows of it within a second. Only a digest of a key is kept.

Exit codes:
  0    it is done
  2    wrong usage, or the directory or the database cannot be used
  4    there is no such key
`;

const COMPLETION_EXAMPLES = `
Examples:
  $ source <(fleetloom completion bash)
  $ fleetloom completion zsh > ~/.zfunc/_fleetloom
  $ fleetloom completion fish > ~/.config/fish/completions/fleetloom.fish
`;

const SERVE_EXAMPLES = `
Examples:
  $ fleetloom serve --open
  $ ANTHROPIC_API_KEY=… fleetloom serve --port 8080 --data ./data
  $ fleetloom serve --port 0 --json | head -1 | jq -r .url
  $ FLEETLOOM_DATABASE=postgres://fleetloom:…@db/fleetloom FLEETLOOM_SECRET=… \\
      fleetloom serve --host 0.0.0.0 --allow-host fleet.example.com

FLEETLOOM_SECRET, the same on every server of a database, seals what they share there: openssl rand -base64 32

Exit codes:
  0    stopped with Ctrl-C or SIGTERM
  2    wrong usage, the port is taken, the data directory is in use, or the database cannot be used
`;

const MODEL_EXAMPLES = `
Examples:
  $ fleetloom model --port 4281
  $ ANTHROPIC_BASE_URL=http://127.0.0.1:4281 ANTHROPIC_API_KEY=any claude -p "Hello"
  $ fleetloom model --port 0 --scripts ./scripts --json | head -1 | jq -r .url

The same model is part of fleetloom serve, under /scripted of its address.

Exit codes:
  0    stopped with Ctrl-C or SIGTERM
  2    wrong usage, the port is taken, or the scripts cannot be read
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
