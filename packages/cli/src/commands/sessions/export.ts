import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom export`. */
export const declareExport: DeclareCommand = (program, { io, done }) =>
  withServer(program.command('export'))
    .description('Print the whole log of a session, sub-agents included, one JSON object per line')
    .argument('<session>', 'session id')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (session: string, options: object) => {
      const { exportSession } = await import('../../export/export-session.ts');
      done(await exportSession(io, session, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom export sesn_01… > session.ndjson
  $ fleetloom export sesn_01… | jq -c 'select(.type == "agent.message") | [.thread_id, .payload.content[0].text]'

The first line is {"type":"export.begin","version":1,"session_id":…,"last_seq":n}, the last one
{"type":"export.end","frames":…,"last_seq":n}. Between them is every event of every thread in log order:
{"seq":1…n,"type":…,"time":ms,"thread_id":… or null,"turn":{"run":…,"stream_id":…,"depth":…} or null,"payload":{…}}.
{"seq":a,"type":"pruned","last_seq":b} replaces text deltas that were removed; the whole text follows them.
Later versions add fields and never rename or remove one. The same log produces the same bytes. An incomplete export exits
with 5.
`;
