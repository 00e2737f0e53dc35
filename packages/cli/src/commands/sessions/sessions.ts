import { InvalidArgumentError, Option } from 'commander';
import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { parseCount, parseTime } from '../parse-options.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom sessions`. */
export const declareSessions: DeclareCommand = (program, { io, done }) => {
  const toTime = (value: string) => parseTime(value, io.timers.now());
  return withServer(program.command('sessions'))
    .description('List and search sessions, the newest activity first')
    .addOption(
      new Option('--status <state...>', 'only sessions in these states').choices([
        'needs_you',
        'running',
        'stalled',
        'failed',
        'done',
        'idle',
        'archived',
      ]),
    )
    .option('--search <words>', 'only sessions whose name, first message or agent contains every word')
    .option('--agent <name...>', 'only sessions of these agents')
    .option('--model <name...>', 'only sessions with these models')
    .option('--since <time>', 'only sessions with an event since this time: 30m, 12h, 7d or ISO 8601', toTime)
    .option('--until <time>', 'only sessions created until this time: 30m, 12h, 7d or ISO 8601', toTime)
    .option('--min-cost <dollars>', 'only sessions that cost at least this much', parseDollars)
    .option('--archived', 'list archived sessions too')
    .addOption(
      new Option('--sort <order>', 'what to sort by (default: activity)').choices([
        'activity',
        'created',
        'cost',
        'tokens',
        'duration',
        'name',
        'agent',
        'state',
      ]),
    )
    .option('--limit <number>', 'maximum number of sessions (default: 50)', parseCount)
    .option('--json', 'print the API objects, one per line')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (options: object) => {
      const { listSessions } = await import('../../sessions/list-sessions.ts');
      done(await listSessions(io, options));
    });
};

function parseDollars(value: string): number {
  const dollars = Number(value);
  if (value.trim() !== '' && Number.isFinite(dollars) && dollars >= 0) return dollars;
  throw new InvalidArgumentError('Pass an amount in US dollars, such as 0.5.');
}

const EXAMPLES = `
Examples:
  $ fleetloom sessions
  $ fleetloom sessions --status needs_you failed
  $ fleetloom sessions --search "flaky test" --since 7d --sort cost
  $ fleetloom sessions --status running --json | jq -r .id

The first column is a short id. Every command accepts it in place of the whole id.
`;
