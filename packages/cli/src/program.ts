import { Command, CommanderError } from 'commander';
import { CommandError } from './base/command-error.ts';
import { exitCode } from './base/exit-code.ts';
import type { Io } from './base/io.ts';
import { VERSION } from './base/version.ts';
import { declareAttach } from './commands/claude-code/attach.ts';
import { declareImport } from './commands/claude-code/import.ts';
import { declareInspect } from './commands/claude-code/inspect.ts';
import { declareStats } from './commands/claude-code/stats.ts';
import { declareTranslate } from './commands/claude-code/translate.ts';
import type { DeclareCommand } from './commands/context.ts';
import { STREAM_EXIT_CODES } from './commands/exit-code-help.ts';
import { declareDemo } from './commands/run/demo.ts';
import { declareModel } from './commands/run/model.ts';
import { declareOpen } from './commands/run/open.ts';
import { declareRun } from './commands/run/run.ts';
import { declareServe } from './commands/run/serve.ts';
import { declareStart } from './commands/run/start.ts';
import { declareAnswer } from './commands/sessions/answer.ts';
import { declareApprove } from './commands/sessions/approve.ts';
import { declareArchive } from './commands/sessions/archive.ts';
import { declareCancel } from './commands/sessions/cancel.ts';
import {
  declareApply,
  declareDiff,
  declareDiscard,
  declareMerge,
  declareRestore,
  declareShow,
} from './commands/sessions/changes.ts';
import { declareContinue } from './commands/sessions/continue.ts';
import { declareDelete } from './commands/sessions/delete.ts';
import { declareDeny } from './commands/sessions/deny.ts';
import { declareEgress } from './commands/sessions/egress.ts';
import { declareExport } from './commands/sessions/export.ts';
import { declareProgram } from './commands/sessions/program.ts';
import { declareRules } from './commands/sessions/rules.ts';
import { declareRuns } from './commands/sessions/runs.ts';
import { declareSend } from './commands/sessions/send.ts';
import { declareSessions } from './commands/sessions/sessions.ts';
import { declareThreads } from './commands/sessions/threads.ts';
import { declareWatch } from './commands/sessions/watch.ts';
import { declareAudit } from './commands/setup/audit.ts';
import { declareAgents } from './commands/setup/agents.ts';
import { namesSession } from './completion/completed-argument.ts';
import { declareIds } from './commands/setup/ids.ts';
import { declareCompletion } from './commands/setup/completion.ts';
import { declareConformance } from './commands/setup/conformance.ts';
import { declareDoctor } from './commands/setup/doctor.ts';
import { declareKeys } from './commands/setup/keys.ts';
import { declareLogins } from './commands/setup/logins.ts';
import { declareCredentials } from './commands/vaults/credentials.ts';
import { declareSecrets } from './commands/vaults/secrets.ts';
import { declareVaults } from './commands/vaults/vaults.ts';
import { toPasted } from './base/to-pasted.ts';

/** Every command, in the groups and the order in which `fleetloom --help` lists them. */
const commandGroups: Readonly<Record<string, readonly DeclareCommand[]>> = {
  'Start:': [declareStart, declareOpen, declareRun, declareWatch, declareDemo],
  'Work:': [
    declareSessions,
    declareThreads,
    declareSend,
    declareContinue,
    declareApprove,
    declareDeny,
    declareAnswer,
    declareRules,
    declareCancel,
    declareRuns,
    declareDiff,
    declareShow,
    declareApply,
    declareMerge,
    declareDiscard,
    declareRestore,
    declareProgram,
    declareEgress,
    declareExport,
    declareArchive,
    declareDelete,
  ],
  'Server:': [
    declareServe,
    declareAgents,
    declareKeys,
    declareLogins,
    declareAudit,
    declareVaults,
    declareCredentials,
    declareSecrets,
    declareModel,
  ],
  'Claude Code streams:': [declareTranslate, declareStats, declareInspect, declareImport, declareAttach],
  'Tools:': [declareDoctor, declareConformance, declareCompletion, declareIds],
};

/** Runs the command line and returns its exit code. A command's implementation is loaded when the command is called. */
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
    io.stderr.write(toPasted(io, `fleetloom: ${error.message}\n${error.fix === '' ? '' : `  ${error.fix}\n`}`));
    return error.exitCode;
  }
}

/** Without a command, `start` runs. Commander's own default would treat a misspelt command as an argument of it. */
function withCommand(args: readonly string[]): readonly string[] {
  const [first] = args;
  const isForStart = first === undefined || (first.startsWith('-') && !PROGRAM_OPTIONS.has(first));
  return isForStart ? ['start', ...args] : args;
}

const PROGRAM_OPTIONS = new Set(['-h', '--help', '-V', '--version']);

/** Declares the whole command line. `done` receives the exit code of the command that ran. */
export function createProgram(io: Io, done: (code: number) => void): Command {
  const program = new Command('fleetloom')
    .description('Run, watch and control fleets of agents, and read the stream-json that Claude Code prints.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    // Arguments and options of a command are in the help of that command; here they would push descriptions off the line.
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .showHelpAfterError('(run with --help for usage)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(toPasted(io, text)),
      writeErr: (text) => io.stderr.write(toPasted(io, text)),
    })
    .addHelpText('after', EXAMPLES + STREAM_EXIT_CODES)
    .hook('preAction', async (_, command) => {
      const [{ readConfig }, { readSecretFiles }] = [
        await import('./config/read-config.ts'),
        await import('./config/read-secret-files.ts'),
      ];
      io.env = readSecretFiles(io.env);
      const config = readConfig(io.env);
      if (config !== undefined) {
        const { applyConfig } = await import('./config/apply-config.ts');
        applyConfig(io.env, command, config);
      }
      await resolveArguments(io, command);
    });
  for (const [heading, declarations] of Object.entries(commandGroups)) {
    program.commandsGroup(heading);
    for (const declare of declarations) declare(program, { io, done });
  }
  program.helpCommand('help [command]', 'Show the help of a command');
  return program;
}

/** Short ids become whole ids before a command runs, so that every command accepts them. */
async function resolveArguments(io: Io, command: Command): Promise<void> {
  const at = command.registeredArguments.findIndex((argument) => namesSession(command.name(), argument.name()));
  const typed: unknown = command.processedArgs[at];
  if (typeof typed !== 'string') return;
  const [, session = '', rest = ''] = /^([^:]*)(:.*)?$/s.exec(typed) ?? [];
  const { isSessionId } = await import('@fleetloom/protocol/fleet');
  // Not resolved: a session of a data directory, which the command itself finds, and the id of a run, which has another format.
  if (isSessionId(session) || session.startsWith('req_') || command.getOptionValue('data') !== undefined) return;
  const { resolveSession } = await import('./workspace/resolve-session.ts');
  command.processedArgs[at] = `${await resolveSession(io, session, command.opts())}${rest}`;
}

const EXAMPLES = `
Examples:
  $ fleetloom start
  $ fleetloom run "Review this repository" --agents .claude/agents
  $ fleetloom watch
  $ claude -p "Review this repository" --output-format stream-json --verbose | fleetloom translate
  $ fleetloom inspect run.ndjson

"fleetloom <command> --help" shows the options and exit codes of a command.
`;
