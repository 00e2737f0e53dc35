import { InvalidArgumentError, Option } from 'commander';
import { demoAgents } from '../../demo-fleet/tasks.ts';
import type { DeclareCommand } from '../context.ts';
import { parsePort, parseSnapshotFileMb } from '../parse-options.ts';
import { serverOption } from '../server-options.ts';

/** `fleetloom start`, also what `fleetloom` runs without a command. */
export const declareStart: DeclareCommand = (program, { io, done }) =>
  program
    .command('start')
    .description('Run the server, open the dashboard and, on the first start, run a demo')
    .option(
      '--demo [agents]',
      `run a demo with this many agents, ${demoAgents.min} to ${demoAgents.max} (default: ${demoAgents.normally}), or "mixed": one each on Claude Code, Codex and opencode`,
      parseDemo,
    )
    .option('--no-demo', 'do not run a demo, even on the first start')
    .option('--model [model]', 'run the demo on a real model instead of the built-in one; needs ANTHROPIC_API_KEY')
    .option('--no-browser', 'do not open the dashboard')
    .option('--port <number>', serverOption.port('PORT, else 4280'), parsePort)
    .option('--data <directory>', serverOption.data)
    .option('--scripts <directory>', `${serverOption.scripts} (default: the scripts of the demo)`)
    .option('--unsandboxed-bash', serverOption.unsandboxedBash)
    .option('--allow-private-host <host...>', serverOption.privateHosts)
    .option('--allow-directory <path...>', serverOption.directories)
    .option('--git-host <host...>', serverOption.gitHosts)
    .addOption(new Option('--git-push <which>', serverOption.gitPush).choices(['none', 'no-delete', 'all']))
    .addOption(new Option('--bash-network <which>', serverOption.bashNetwork).choices(['none', 'limited', 'open']))
    .option('--strict-network', serverOption.strictNetwork)
    .option('--package-host <host...>', serverOption.packageHosts)
    .option('--egress-ca <file>', serverOption.egressCa)
    .option('--snapshot-file-mb <number>', serverOption.snapshotFileMb, parseSnapshotFileMb)
    .option('--claude <program>', serverOption.claude)
    .option('--claude-login', serverOption.claudeLogin)
    .option('--codex <program>', serverOption.codex)
    .option('--codex-login', serverOption.codexLogin)
    .option('--opencode <program>', serverOption.opencode)
    .option('--acp <agent...>', serverOption.acp)
    .option('--acp-login', serverOption.acpLogin)
    .option('--programs <workspace...>', serverOption.programs('default, on this machine only'))
    .option('--no-programs', 'do not let any workspace run Claude Code, Codex or opencode')
    .option('--program-env <name...>', serverOption.programEnv)
    .option('--unsandboxed-programs', serverOption.unsandboxedPrograms)
    .option('--webhook <url...>', serverOption.webhooks)
    .option('--json', 'print the URLs and the key as one line of JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: object) => {
      const { start } = await import('../../start/start.ts');
      done(await start(io, options));
    });

function parseDemo(value: string): number | 'mixed' {
  if (value === 'mixed') return value;
  const agents = Number(value);
  if (Number.isInteger(agents) && agents >= demoAgents.min && agents <= demoAgents.max) return agents;
  throw new InvalidArgumentError(`Pass a number from ${demoAgents.min} to ${demoAgents.max}, or mixed.`);
}

const EXAMPLES = `
Examples:
  $ fleetloom start
  $ fleetloom start --demo 25
  $ fleetloom start --demo mixed
  $ fleetloom start --demo --model sonnet
  $ fleetloom start --no-demo --port 0 --data ./fleet

"fleetloom" without a command does the same. The demo works on a small sample project, in a git worktree, and uses no network; one of
its agents waits for an approval before it edits. You can change its scripts in the data directory.

If a server is running on the data directory already, the command prints a login link for its dashboard and exits.

Exit codes:
  0    stopped with Ctrl-C or SIGTERM, or a server was running already
  2    wrong usage, the port is in use, or the data directory is in use
`;
