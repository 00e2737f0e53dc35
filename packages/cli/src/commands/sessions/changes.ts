import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withRunServer } from '../server-options.ts';

/** `fleetloom diff`. */
export const declareDiff: DeclareCommand = (program, { io, done }) =>
  withRunServer(program.command('diff'))
    .description('Print what agents changed in the workspace of a session')
    .argument('[session]', SESSION)
    .argument('[path...]', 'only these files and directories, from the working directory on')
    .option('--stat', 'print one line for each file instead of its diff')
    .option('--steps', 'print the recorded steps instead, with the cursors that --from, --to and --at take')
    .option('--thread <id>', 'only files that this thread touched, or its own worktree if it has one')
    .option('--from <cursor>', 'from this cursor of the fleet stream (default: where the session began)')
    .option('--to <cursor>', 'up to this cursor (default: now)')
    .option('--json', 'print one JSON object')
    .addHelpText('after', EXAMPLES.diff + SERVER_EXIT_CODES)
    .action(async (session: string | undefined, paths: string[], options: object) => {
      const { diff } = await import('../../changes/diff.ts');
      done(await diff(io, toArguments(session, paths), options));
    });

/** `fleetloom show`. */
export const declareShow: DeclareCommand = (program, { io, done }) =>
  withRunServer(program.command('show'))
    .description('Print a file of the workspace of a session, now or at a cursor')
    .usage('[options] [<session>:]<path>')
    .argument(
      '<file>',
      '[<session>:]<path>: session id (default: the last run of this repository) and path of the file',
    )
    .option('--at <cursor>', 'as it was at this cursor of `fleetloom diff --steps`, or at `start` (default: now)')
    .option('--thread <id>', 'in the worktree of this thread, if it has one')
    .addHelpText('after', EXAMPLES.show + SERVER_EXIT_CODES)
    .action(async (named: string, options: object) => {
      const { show } = await import('../../changes/show.ts');
      done(await show(io, named, options));
    });

/** `fleetloom apply`. */
export const declareApply: DeclareCommand = (program, { io, done }) =>
  withRunServer(program.command('apply'))
    .description('Merge the changes of a session into your working tree, or commit them to a branch')
    .argument('[session]', SESSION)
    .argument('[path...]', 'only these files and directories, from the working directory on')
    .option('--branch <name>', 'commit them to this branch instead; it is created if it does not exist')
    .option('--message <text>', 'message of the commit (default: the title of the session)')
    .option('--at <cursor>', 'the changes up to this cursor of the fleet stream (default: all)')
    .option('--dry-run', 'print what would be written, and write nothing')
    .option('--json', 'print one JSON object, as the API returns it')
    .addHelpText('after', EXAMPLES.apply + SERVER_EXIT_CODES)
    .action(async (session: string | undefined, paths: string[], options: object) => {
      const { apply } = await import('../../changes/apply.ts');
      done(await apply(io, toArguments(session, paths), options));
    });

/** `fleetloom discard`. */
export const declareDiscard: DeclareCommand = (program, { io, done }) =>
  withRunServer(program.command('discard'))
    .description('Remove the worktree and the branch of a session, after saying what is lost')
    .argument('[session]', SESSION)
    .option('--yes', 'do not ask')
    .option('--json', 'print one JSON object, as the API returns it')
    .addHelpText('after', EXAMPLES.discard + SERVER_EXIT_CODES)
    .action(async (session: string | undefined, options: object) => {
      const { discard } = await import('../../changes/discard.ts');
      done(await discard(io, session, options));
    });

/** `fleetloom restore`. */
export const declareRestore: DeclareCommand = (program, { io, done }) =>
  withRunServer(program.command('restore'))
    .description('Set the workspace of an idle session back to what it was at a cursor')
    .argument('[session]', SESSION)
    .requiredOption('--at <cursor>', 'a cursor of `fleetloom diff --steps`, or `start`')
    .option('--overwrite', 'also replace files that changed after the session wrote them')
    .option('--dry-run', 'print what would change, and write nothing')
    .option('--json', 'print one JSON object, as the API returns it')
    .addHelpText('after', EXAMPLES.restore + SERVER_EXIT_CODES)
    .action(async (session: string | undefined, options: { at: string }) => {
      const { restore } = await import('../../changes/restore.ts');
      done(await restore(io, session, options));
    });

/** `fleetloom merge`. */
export const declareMerge: DeclareCommand = (program, { io, done }) =>
  withRunServer(program.command('merge'))
    .description('Merge what a thread changed in its own worktree into the workspace of its session')
    .argument('<session>', 'session id')
    .argument('<thread>', 'thread id; `fleetloom diff <session> --json` lists them in `worktrees`')
    .option('--dry-run', 'print what would be merged, and write nothing')
    .option('--json', 'print one JSON object, as the API returns it')
    .addHelpText('after', EXAMPLES.merge + SERVER_EXIT_CODES)
    .action(async (session: string, thread: string, options: object) => {
      const { merge } = await import('../../changes/merge.ts');
      done(await merge(io, session, thread, options));
    });

const SESSION = 'session id (default: the last run of this repository)';

function toArguments(session: string | undefined, paths: readonly string[]): readonly string[] {
  return session === undefined ? [] : [session, ...paths];
}

const EXAMPLES = {
  diff: `
Examples:
  $ fleetloom diff
  $ fleetloom diff sesn_01… --stat
  $ fleetloom diff sesn_01… --steps
  $ fleetloom diff sesn_01… src
  $ fleetloom diff sesn_01… | git apply
`,
  show: `
Examples:
  $ fleetloom show sesn_01…:src/main.ts
  $ fleetloom show sesn_01…:src/main.ts --at 120
  $ fleetloom show main.ts --at start

Behind a session a path begins at the top of the repository, or with ./ in the working directory, as in "git show".
`,
  apply: `
Examples:
  $ fleetloom apply sesn_01…
  $ fleetloom apply sesn_01… src/main.ts docs
  $ fleetloom apply sesn_01… --branch fix-retries --message "Fix the first wait"

A conflict with your own changes is an error that lists the files; nothing is written then. Applying twice changes nothing.
`,
  discard: `
Examples:
  $ fleetloom discard sesn_01…
  $ fleetloom discard sesn_01… --yes
`,
  merge: `
Examples:
  $ fleetloom diff sesn_01… --thread sthr_01…
  $ fleetloom merge sesn_01… sthr_01…

A conflict with the workspace is an error that lists the files; nothing is written then. Merging twice changes nothing.
`,
  restore: `
Examples:
  $ fleetloom restore sesn_01… --at 120 --dry-run
  $ fleetloom restore sesn_01… --at 120
  $ fleetloom restore --at start

Only files that the session changed are replaced. One that changed after the session wrote it is an error that lists these files;
nothing is written then, unless you add --overwrite.
`,
} as const;
