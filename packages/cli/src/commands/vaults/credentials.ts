import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom credentials` with its sub-commands. */
export const declareCredentials: DeclareCommand = (program, context) => {
  const credentials = program
    .command('credentials')
    .description(
      'List, add, rotate, validate and archive credentials; secrets are read from a prompt or standard input',
    )
    .addHelpText('after', EXAMPLES);
  for (const declare of [declareList, declareAdd, declareRotate, declareValidate, declareArchive]) {
    declare(credentials, context);
  }
  return credentials;
};

const declareList: DeclareCommand = (credentials, { io, done }) =>
  withServer(credentials.command('list'))
    .description('List the credentials of a vault, newest first, without their secrets')
    .argument('<vault>', 'id of the vault')
    .option('--archived', 'also list archived credentials')
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (vault: string, options: object) => {
      const { listCredentials } = await import('../../vaults/credentials.ts');
      done(await listCredentials(io, vault, options));
    });

const declareAdd: DeclareCommand = (credentials, { io, done }) =>
  withServer(credentials.command('add'))
    .description('Add a credential and print its id; asks for the secret, or reads it from standard input')
    .argument('<vault>', 'id of the vault')
    .option('--mcp-url <url>', 'URL of the MCP server that gets the token')
    .option('--oauth', 'the secret is an OAuth access token')
    .option('--expires <time>', 'with --oauth: when it expires, such as 2026-12-31T18:00:00Z')
    .option('--variable <name>', 'name of the environment variable that stands for the secret')
    .option('--host <host...>', 'with --variable: hosts that the secret may be sent to (default: all)')
    .option('--name <name>', 'name of the credential, for people')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (vault: string, options: object) => {
      const { addCredential } = await import('../../vaults/credentials.ts');
      done(await addCredential(io, vault, options));
    });

const declareRotate: DeclareCommand = (credentials, { io, done }) =>
  withServer(credentials.command('rotate'))
    .description('Replace the secret; running sessions use it from their next request on')
    .argument('<vault>', 'id of the vault')
    .argument('<credential>', 'id of the credential, from "credentials list"')
    .option('--expires <time>', 'when a new access token expires')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (vault: string, credential: string, options: object) => {
      const { rotateCredential } = await import('../../vaults/credentials.ts');
      done(await rotateCredential(io, vault, credential, options));
    });

const declareValidate: DeclareCommand = (credentials, { io, done }) =>
  withServer(credentials.command('validate'))
    .description('Ask the MCP server of an OAuth credential whether it accepts the token; 1 if it does not')
    .argument('<vault>', 'id of the vault')
    .argument('<credential>', 'id of the credential, from "credentials list"')
    .option('--json', 'print one JSON object')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (vault: string, credential: string, options: object) => {
      const { validateCredential } = await import('../../vaults/credentials.ts');
      done(await validateCredential(io, vault, credential, options));
    });

const declareArchive: DeclareCommand = (credentials, { io, done }) =>
  withServer(credentials.command('archive'))
    .description('Archive credentials and erase their secrets')
    .argument('<vault>', 'id of the vault')
    .argument('<credential...>', 'ids of the credentials, from "credentials list"')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (vault: string, ids: string[], options: object) => {
      const { archiveCredentials } = await import('../../vaults/credentials.ts');
      done(await archiveCredentials(io, vault, ids, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom credentials add vlt_01… --mcp-url https://mcp.example.com/mcp
  $ pass show tracker | fleetloom credentials rotate vlt_01… vcrd_01…
  $ fleetloom credentials validate vlt_01… vcrd_01…
`;
