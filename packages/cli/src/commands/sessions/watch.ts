import { Option } from 'commander';
import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom watch`. */
export const declareWatch: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('watch'))
    .description(
      'Watch the threads of a session live: state, time and cost of each; decide approvals, answer, interrupt',
    )
    .argument(
      '[session]',
      'session id (default: the list of all sessions; without a terminal, the newest running session)',
    )
    .option('--plain', 'print one line per change (default if the output is a pipe or file)')
    .option('--json', 'print fleet events, one JSON object per line')
    .option('--once', 'print the current state and exit')
    .addOption(new Option('--until <state>', 'exit when every thread is idle').choices(['idle']))
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (session: string | undefined, options: object) => {
      const { watch } = await import('../../watch/watch.ts');
      done(await watch(io, session, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom watch
  $ fleetloom watch sesn_01…
  $ fleetloom watch sesn_01… --plain | tee run.log
  $ fleetloom watch sesn_01… --once

Keys: ↑ ↓ or j k select, Enter opens a thread, i opens the inbox, a approves, d denies with a message, A approves a pattern,
r answers a question, s sends a message, x interrupts a thread, X also every thread below it, R replays ([ ] step),
/ filters, : opens the command line, ? lists all keys, q quits. Agents keep working after you quit.
Without a session: rows are numbered; Enter or :number opens one, :id or :name jumps, / searches, Esc comes back to the list.

--until idle exits with 1 if the last run failed. --once exits with the most urgent state it finds: 1 a run failed,
7 an approval or question is pending, 8 a thread is stalled, otherwise 0.
`;
