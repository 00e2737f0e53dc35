import { Option } from 'commander';
import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { serverOption, withServer } from '../server-options.ts';

/** `fleetloom run`. */
export const declareRun: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('run'), 'a temporary server for this run')
    .description('Give agents a task, watch them work and print the result')
    .argument('[task]', 'the task; omit it or pass "-" to read it from standard input')
    .option('--agents <directory>', 'directory with agent definitions: .md as in .claude/agents, .yaml or .json')
    .option('--agent <name>', 'the agent that receives the task (default: the coordinator)')
    .option(
      '--model <name>',
      'model for agents whose definition names none (default: claude-sonnet-5-5; needed without ANTHROPIC_API_KEY)',
    )
    .addOption(
      new Option(
        '--gate <mode>',
        'when to print a coordinator’s text while it may still delegate (default: live, with --json strict)',
      ).choices(['strict', 'live', 'off']),
    )
    .addOption(
      new Option('--approvals <mode>', 'how to decide tool calls that need approval').choices(['ask', 'allow', 'deny']),
    )
    .option('--in-place', 'let agents work on your files themselves instead of a worktree')
    .option('--no-workspace', 'do not work on this repository: agents begin with an empty workspace')
    .option('--include-uncommitted', 'carry your uncommitted changes over to the worktree')
    .option('--apply', 'merge the changes into your files when the run ends')
    .option('--json', 'print fleet events, one JSON object per line, and nothing else')
    .option('--data <directory>', 'data directory of the temporary server (default: deleted after the run)')
    .option('--scripts <directory>', serverOption.scripts)
    .option('--unsandboxed-bash', serverOption.unsandboxedBash)
    .option('--unsandboxed-programs', 'run Claude Code, Codex and opencode without a sandbox, with full access as you')
    .option('--allow-private-host <host...>', serverOption.privateHosts)
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (task: string | undefined, options: object) => {
      const { run } = await import('../../run/run.ts');
      done(await run(io, task, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom run "Summarise the README" --agents .claude/agents
  $ fleetloom run "Review this diff" --agents agents --agent reviewer > review.md
  $ fleetloom run "…" --json | jq -c 'select(.type == "tool_call")'
  $ fleetloom run "Fix the failing test" --apply
  $ git diff | fleetloom run - --url http://127.0.0.1:4280 --key "$KEY" --agent reviewer

Inside a git repository, agents work on it in a worktree on a branch of its own, and your files stay as they are. The run
ends with what changed and the commands that take it ("fleetloom apply") or leave it ("fleetloom discard").

Without --url and FLEETLOOM_URL, a temporary server runs for the duration of the run. Without --data, only the files that
agents wrote remain; their location is printed.

Agent definitions: Markdown with front matter (name, description, tools, model; the body is the system prompt), or YAML or
JSON with the fields of POST /v1/agents. "agents: [a, b]" is the agent's roster; "coordinator: true" means the roster is
every other agent of the directory. An agent that exists under the same name is updated if its definition changed.
`;
