import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom attach`. */
export const declareAttach: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('attach'))
    .description(
      'Follow a running session of Claude Code, Codex or opencode until Ctrl-C; prints its session id on the server',
    )
    .argument(
      '[session]',
      'session file, session id, or project directory (default: the newest session of this directory)',
    )
    .option('--all', 'follow every running session on this machine, or in the given directory, including later ones')
    .option('--from <program>', 'claude-code, codex or opencode (default: claude-code)')
    .option(
      '--control',
      'turn permission prompts of Claude Code into approvals; adds a hook to its settings while it runs, after showing it',
    )
    .option('--yes', 'add the hook of --control without asking')
    .option(
      '--config <directory>',
      'the program’s configuration directory (default: CLAUDE_CONFIG_DIR, else ~/.claude; CODEX_HOME, else ~/.codex; for opencode XDG_DATA_HOME)',
    )
    .option('--opencode <program>', 'opencode executable that exports its sessions (default: opencode on PATH)')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (session: string | undefined, options: object) => {
      const { attach } = await import('../../import/attach.ts');
      done(await attach(io, session, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom attach
  $ fleetloom attach ~/projects/shop & fleetloom watch
  $ fleetloom attach --all
  $ fleetloom attach --control
  $ fleetloom attach --from codex ~/projects/shop

After /clear or a fork, the new session is followed too. With --all, a session counts as running if its file changed within
the last 10 minutes; at most 50 sessions are followed at the same time.
`;
