import type { DeclareCommand } from '../context.ts';
import { parsePort } from '../parse-options.ts';
import { serverOption } from '../server-options.ts';

/** `fleetloom model`. */
export const declareModel: DeclareCommand = (program, { io, done }) =>
  program
    .command('model')
    .description('Serve the scripted model to any client of the Messages or Responses API, without an API key')
    .option('--port <number>', serverOption.port('4281'), parsePort)
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--scripts <directory>', serverOption.scripts)
    .option('--json', 'print the URL as one line of JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: object) => {
      const { model } = await import('../../server/model.ts');
      done(await model(io, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom model --port 4281
  $ ANTHROPIC_BASE_URL=http://127.0.0.1:4281 ANTHROPIC_API_KEY=any claude -p "Hello"
  $ codex exec -c model_provider=scripted -c 'model_providers.scripted={name="scripted",base_url="http://127.0.0.1:4281/v1",wire_api="responses"}' "Hello"
  $ fleetloom model --port 0 --scripts ./scripts --json | head -1 | jq -r .url

"fleetloom serve" serves the same model under the path /scripted.

Exit codes:
  0    stopped with Ctrl-C or SIGTERM
  2    wrong usage, the port is in use, or the scripts cannot be read
`;
