import { type Command, InvalidArgumentError, Option } from 'commander';
import { SERVER_EXIT_CODE_HELP } from './exit-code.ts';
import type { Io } from './io.ts';

/** Adds the commands that run fleets and steer them. Each is loaded when it is called (SPEC C17). */
export function addServerCommands(program: Command, io: Io, done: (code: number) => void): void {
  connected(program.command('run'), 'one for this run alone')
    .description('give a task to a fleet of agents, watch it at work and print what comes out')
    .argument('[task]', 'what is to be done; without it or with "-" it is read from standard input')
    .option('--agents <directory>', 'definitions of agents: .md as in .claude/agents, .yaml or .json')
    .option('--agent <name>', 'who is given the task (default: the one that coordinates)')
    .option(
      '--model <name>',
      'for agents that do not say which (default claude-sonnet-5-5, without a key scripted/echo)',
    )
    .addOption(
      new Option(
        '--gate <mode>',
        'how a coordinator’s text arrives while it may yet delegate (default live, of --json strict)',
      ) //
        .choices(['strict', 'live', 'off']),
    )
    .addOption(
      new Option('--approvals <mode>', 'what becomes of calls that need consent').choices(['ask', 'allow', 'deny']),
    )
    .option('--json', 'print fleet events, one JSON object per line, and nothing else')
    .option(
      '--data <directory>',
      'where the server of this run keeps everything (default: a directory that goes with it)',
    )
    .option('--scripts <directory>', 'scripts for the scripted model, one JSON or YAML file each')
    .option('--unsandboxed-bash', 'let agents run bash without a sandbox where there is none')
    .option('--unsandboxed-programs', 'run the claude program without a sandbox, with everything that you can reach')
    .option(
      '--allow-private-host <host...>',
      'private hosts that agents may reach with web_fetch and MCP, as host or host:port',
    )
    .addHelpText('after', RUN_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (task: string | undefined, options: object) => {
      const { run } = await import('./commands/run.ts');
      done(await run(io, task, options));
    });

  connected(program.command('watch'))
    .description('show all threads of a session: what each does, for how long and at what cost; answer what they ask')
    .argument('[session]', 'its id; without it one can be chosen, or the newest that runs is taken')
    .option('--plain', 'print one line for each change (default into a pipe or file)')
    .option('--json', 'print fleet events, one JSON object per line')
    .option('--once', 'print how it is now, and end; exit code 1 if the newest run failed')
    .addOption(new Option('--until <state>', 'end when nothing runs any more').choices(['idle']))
    .addHelpText('after', WATCH_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (session: string | undefined, options: object) => {
      const { watch } = await import('./commands/watch.ts');
      done(await watch(io, session, options));
    });

  connected(program.command('send'))
    .description('say something to a session, or stop what it does; prints the ids of what was sent')
    .argument('<session>')
    .argument('[text]', 'what to say to its coordinator')
    .option('--interrupt', 'stop everybody first')
    .option('--thread <id>', 'with --interrupt: stop only this thread')
    .addHelpText('after', SEND_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (session: string, text: string | undefined, options: object) => {
      const { send } = await import('./commands/send.ts');
      done(await send(io, session, text, options));
    });

  connected(program.command('continue'))
    .description(
      'continue a session after its turn, a sub-agent or background work failed, e.g. because the server was restarted',
    )
    .argument('<session>')
    .addHelpText('after', CONTINUE_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (session: string, options: object) => {
      const { continueSession } = await import('./commands/continue.ts');
      done(await continueSession(io, session, options));
    });

  for (const [name, answer] of [['approve', 'allow'] as const, ['deny', 'deny'] as const]) {
    const command = connected(program.command(name))
      .description(
        `${name} what agents ask for; prints the ids of what was answered, and without any tells what is open`,
      )
      .argument('<session>')
      .argument('[tool_use_id...]', 'which calls')
      .option('--all', 'all that wait');
    if (answer === 'deny') {
      command.option('--message <text>', 'the reason, which the agent reads');
      command.option('--interrupt', 'also end the turn that made the call');
    } else {
      command.option('--input <json>', 'run one call with this input instead of its own; @file reads it from a file');
    }
    command
      .addHelpText('after', toAnswerExamples(name) + SERVER_EXIT_CODE_HELP)
      .action(async (session: string, ids: string[], options: object) => {
        const { approve } = await import('./commands/approve.ts');
        done(await approve(io, answer, session, ids, options));
      });
  }

  connected(program.command('answer'))
    .description('answer a question of an agent, or give the result of a custom tool; without a text lists what waits')
    .argument('<session>')
    .argument('[answer...]', 'the id of the call (may be left out if only one waits), then one text for each question')
    .addHelpText('after', ANSWER_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (session: string, given: string[], options: object) => {
      const { answer } = await import('./commands/answer.ts');
      done(await answer(io, session, given, options));
    });

  connected(program.command('cancel'))
    .description('stop a run and everybody who works for it; prints how it ended')
    .argument('<request>', 'the id of the run, as the first event of it says, or of the session in which it runs')
    .option('--no-wait', 'do not wait for its end')
    .addHelpText('after', CANCEL_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (request: string, options: object) => {
      const { cancel } = await import('./commands/cancel.ts');
      done(await cancel(io, request, options));
    });

  connected(program.command('sessions'))
    .description('list sessions, the newest first')
    .option('--json', 'print them as the API has them, one JSON object per line')
    .addOption(
      new Option('--status <status...>', 'only these').choices(['running', 'idle', 'rescheduling', 'terminated']),
    )
    .option('--limit <number>', 'how many at most (default 50)', parseCount)
    .addHelpText('after', SESSIONS_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (options: object) => {
      const { sessions } = await import('./commands/sessions.ts');
      done(await sessions(io, options));
    });

  connected(program.command('threads'))
    .description('list the threads of a session as a tree')
    .argument('<session>')
    .option('--json', 'print them as the API has them, one JSON object per line')
    .addHelpText('after', THREADS_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (session: string, options: object) => {
      const { threads } = await import('./commands/threads.ts');
      done(await threads(io, session, options));
    });

  connected(program.command('export'))
    .description('print everything that happened in a session, sub-agents included, one JSON object per line')
    .argument('<session>')
    .addHelpText('after', EXPORT_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (session: string, options: object) => {
      const { exportSession } = await import('./commands/export.ts');
      done(await exportSession(io, session, options));
    });

  connected(program.command('import'))
    .description('make sessions of Claude Code, with their sub-agents, sessions of the server; prints their ids')
    .argument('[session...]', 'session files, their ids, or directories where Claude Code was at work (default: here)')
    .option('--all', 'all that Claude Code has on this machine')
    .option('--config <directory>', 'where Claude Code keeps them (default CLAUDE_CONFIG_DIR, else ~/.claude)')
    .option('--json', 'print one JSON object for each')
    .addHelpText('after', IMPORT_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (sessions: string[], options: object) => {
      const { importSessions } = await import('./commands/import.ts');
      done(await importSessions(io, sessions, options));
    });

  connected(program.command('attach'))
    .description('follow a session of Claude Code that runs, without touching it, until Ctrl-C; prints its id here')
    .argument('[session]', 'its file, its id, or the directory where it is at work (default: the newest one here)')
    .option(
      '--all',
      'follow all sessions that run on this machine, or in the directory given, also those that start later',
    )
    .option('--config <directory>', 'where Claude Code keeps them (default CLAUDE_CONFIG_DIR, else ~/.claude)')
    .addHelpText('after', ATTACH_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (session: string | undefined, options: object) => {
      const { attach } = await import('./commands/attach.ts');
      done(await attach(io, session, options));
    });

  const agents = program.command('agents').description('agents of the server').addHelpText('after', AGENTS_EXAMPLES);
  connected(agents.command('apply'))
    .alias('import')
    .description('make definitions of agents known to the server, or bring them up to date; prints their ids')
    .argument('<directory>', 'definitions: .md as in .claude/agents, .yaml or .json')
    .option('--model <name>', 'for agents that do not say which (default claude-sonnet-5-5)')
    .option('--json', 'print one JSON object for each')
    .addHelpText('after', AGENTS_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (directory: string, options: object) => {
      const { applyAgents } = await import('./commands/apply-agents.ts');
      done(await applyAgents(io, directory, options));
    });
  connected(agents.command('list'))
    .description('list the agents of the server')
    .option('--json', 'print them as the API has them, one JSON object per line')
    .addHelpText('after', AGENTS_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (options: object) => {
      const { listAgents } = await import('./commands/list-agents.ts');
      done(await listAgents(io, options));
    });
  connected(agents.command('show'))
    .description('print the definition of an agent')
    .argument('<agent>', 'its name or id')
    .option('--json', 'print it as the API has it')
    .addHelpText('after', AGENTS_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (agent: string, options: object) => {
      const { showAgent } = await import('./commands/export-agents.ts');
      done(await showAgent(io, agent, options));
    });
  connected(agents.command('export'))
    .description('write definitions that apply reads back; prints the files')
    .argument('<directory>', 'where to')
    .argument('[agent...]', 'names or ids (default: all)')
    .addHelpText('after', AGENTS_EXAMPLES + SERVER_EXIT_CODE_HELP)
    .action(async (directory: string, names: string[], options: object) => {
      const { exportAgents } = await import('./commands/export-agents.ts');
      done(await exportAgents(io, directory, names, options));
    });
}

function connected(command: Command, otherwise = 'that of this machine, else http://127.0.0.1:4280'): Command {
  return command
    .option('--url <url>', `the server (default FLEETLOOM_URL, else ${otherwise})`)
    .option('--key <key>', 'its key (default FLEETLOOM_KEY; a server of this machine needs none)');
}

function parseCount(value: string): number {
  const count = Number(value);
  if (Number.isInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('Give a whole number above 0.');
}

const IMPORT_EXAMPLES = `
Examples:
  $ fleetloom import
  $ fleetloom import ~/.claude/projects/-home-user-shop/0b1f….jsonl
  $ fleetloom import --all --json | jq -r .session_id

What is imported can be read, watched and exported like any other session, and nobody can say anything to it. Importing
it again adds what has happened since.
`;

const ATTACH_EXAMPLES = `
Examples:
  $ fleetloom attach
  $ fleetloom attach ~/projects/shop & fleetloom watch
  $ fleetloom attach --all

After /clear or a fork the new session is followed too. With --all, a session runs if its file changed within the last
10 minutes; at most 50 are followed at a time.
`;

const AGENTS_EXAMPLES = `
Examples:
  $ fleetloom agents apply .claude/agents
  $ fleetloom agents apply .claude/agents --model claude-code/default
  $ fleetloom agents list
  $ fleetloom agents export ./agents
`;

const RUN_EXAMPLES = `
Examples:
  $ fleetloom run "Summarise the README" --agents .claude/agents
  $ fleetloom run "Review this diff" --agents agents --agent reviewer > review.md
  $ fleetloom run "…" --json | jq -c 'select(.type == "tool_call")'
  $ git diff | fleetloom run - --url http://127.0.0.1:4280 --key "$KEY" --agent reviewer

Without --url and FLEETLOOM_URL a server of its own runs as long as the run does. Without --data it leaves nothing
behind but the files that agents wrote, and says where they are.

Definitions of agents: Markdown with front matter (name, description, tools, model; the body is the system prompt), YAML or
JSON with the fields of POST /v1/agents. "agents: [a, b]" names whom it may delegate to, "coordinator: true" means all
others of the directory. An agent that is there under its name is brought up to date, and stays as it is if nothing changed.
`;

const WATCH_EXAMPLES = `
Examples:
  $ fleetloom watch
  $ fleetloom watch sesn_01…
  $ fleetloom watch sesn_01… --plain | tee run.log
  $ fleetloom watch sesn_01… --once

Keys: ↑ ↓ or j k choose, Enter opens a thread, i the inbox, a approves, d denies with a message, A approves a pattern,
r answers, s speaks, x stops a thread and X all below it too, R replays ([ ] step), / filters, : takes commands,
? shows them all, q leaves. Leaving stops nobody.

--until idle returns 1 if the last run failed. --once returns the worst that it finds: 1 something failed, 7 somebody has to answer, 8 a thread is stalled, else 0.
`;

const SEND_EXAMPLES = `
Examples:
  $ fleetloom send sesn_01… "Look at the tests too"
  $ fleetloom send sesn_01… --interrupt "Stop, and begin with the tests"
  $ fleetloom send sesn_01… --interrupt --thread sthr_01…
`;

const CONTINUE_EXAMPLES = `
Examples:
  $ fleetloom continue sesn_01…
`;

function toAnswerExamples(name: string): string {
  const reason = name === 'deny' ? ' --message "Not on this machine"' : ` --input '{"command":"npm test"}'`;
  return `
Examples:
  $ fleetloom ${name} sesn_01…
  $ fleetloom ${name} sesn_01… sevt_01…${reason}
  $ fleetloom ${name} sesn_01… --all
`;
}

const ANSWER_EXAMPLES = `
Examples:
  $ fleetloom answer sesn_01…
  $ fleetloom answer sesn_01… "Blue"
  $ fleetloom answer sesn_01… sevt_01… "Blue" "No tests"
`;

const CANCEL_EXAMPLES = `
Examples:
  $ fleetloom cancel sesn_01…
  $ fleetloom cancel req_01…
  $ fleetloom cancel req_01… --no-wait
`;

const SESSIONS_EXAMPLES = `
Examples:
  $ fleetloom sessions
  $ fleetloom sessions --status running --json | jq -r .id
`;

const THREADS_EXAMPLES = `
Examples:
  $ fleetloom threads sesn_01…
  $ fleetloom threads sesn_01… --json | jq -r 'select(.status == "running") | .agent.name'
`;

const EXPORT_EXAMPLES = `
Examples:
  $ fleetloom export sesn_01… > session.ndjson
  $ fleetloom export sesn_01… | jq -c 'select(.type == "agent.message") | [.thread_id, .payload.content[0].text]'

The first line is {"type":"export.begin","version":1,"session_id":…,"last_seq":n}, the last one
{"type":"export.end","frames":…,"last_seq":n}. Between them stands every event of every thread in the order of the log:
{"seq":1…n,"type":…,"time":ms,"thread_id":… or null,"turn":{"run":…,"stream_id":…,"depth":…} or null,"payload":{…}}.
{"seq":a,"type":"pruned","last_seq":b} stands for pieces of text that were removed; the whole text follows them.
Fields are added in later versions, never renamed or removed. The same log gives the same bytes. An export that is not
whole ends with exit code 5.
`;
