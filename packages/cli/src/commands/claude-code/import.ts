import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom import`. */
export const declareImport: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('import'))
    .description(
      'Import sessions of Claude Code, Codex or opencode, sub-agents included, as read-only sessions; prints their ids',
    )
    .argument(
      '[session...]',
      'session files, session ids, or directories that the program worked in (default: this directory)',
    )
    .option('--from <program>', 'claude-code, codex or opencode (default: claude-code)')
    .option('--all', 'import every session of the program on this machine; of opencode, those of this repository')
    .option(
      '--config <directory>',
      'the program’s configuration directory (default: CLAUDE_CONFIG_DIR, else ~/.claude; CODEX_HOME, else ~/.codex; for opencode XDG_DATA_HOME)',
    )
    .option('--opencode <program>', 'opencode executable that exports its sessions (default: opencode on PATH)')
    .option('--json', 'print one JSON object per session')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (sessions: string[], options: object) => {
      const { importSessions } = await import('../../import/import-sessions.ts');
      done(await importSessions(io, sessions, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom import
  $ fleetloom import ~/.claude/projects/-home-user-shop/0b1f….jsonl
  $ fleetloom import --all --json | jq -r .session_id
  $ fleetloom import --from codex --all
  $ fleetloom import --from opencode ses_0b1f… exported.json

Imported sessions can be read, watched and exported like any other. Importing a session again adds what is new.
`;
