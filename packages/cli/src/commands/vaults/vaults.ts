import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom vaults` with its sub-commands. */
export const declareVaults: DeclareCommand = (program, context) => {
  const vaults = program
    .command('vaults')
    .description('List, create, connect, archive and delete vaults, whose credentials sessions use without seeing them')
    .addHelpText('after', EXAMPLES);
  for (const declare of [declareList, declareCreate, declareConnect, declareArchive, declareDelete]) {
    declare(vaults, context);
  }
  return vaults;
};

const declareList: DeclareCommand = (vaults, { io, done }) =>
  withServer(vaults.command('list', { isDefault: true }))
    .description('List the vaults, newest first')
    .option('--archived', 'also list archived vaults')
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (options: object) => {
      const { listVaults } = await import('../../vaults/vaults.ts');
      done(await listVaults(io, options));
    });

const declareCreate: DeclareCommand = (vaults, { io, done }) =>
  withServer(vaults.command('create'))
    .description('Create a vault and print its id')
    .argument('<name>', 'name of the vault')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (name: string, options: object) => {
      const { createVault } = await import('../../vaults/vaults.ts');
      done(await createVault(io, name, options));
    });

const declareConnect: DeclareCommand = (vaults, { io, done }) =>
  withServer(vaults.command('connect'))
    .description(
      'Connect an MCP server with OAuth: open the printed address and consent; prints the id of the credential',
    )
    .argument('<vault>', 'id of the vault')
    .argument('<url>', 'URL of the MCP server')
    .option('--name <name>', 'name of the credential, for people')
    .option('--client-id <id>', 'client that you have registered at the authorization server')
    .option('--client-secret', 'ask for the secret of that client, or read it from standard input')
    .option('--scope <scope>', 'what to ask for (default: what the MCP server names)')
    .option('--no-open', 'only print the address')
    .option('--json', 'print the flow when it begins and when it has ended, as one JSON object per line')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (vault: string, url: string, options: object) => {
      const { connectServer } = await import('../../vaults/connect.ts');
      done(await connectServer(io, vault, url, options));
    });

const declareArchive: DeclareCommand = (vaults, { io, done }) =>
  withServer(vaults.command('archive'))
    .description('Archive vaults and their credentials, and erase the secrets; sessions continue without them')
    .argument('<vault...>', 'ids of the vaults, from "vaults list"')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (ids: string[], options: object) => {
      const { archiveVaults } = await import('../../vaults/vaults.ts');
      done(await archiveVaults(io, ids, options));
    });

const declareDelete: DeclareCommand = (vaults, { io, done }) =>
  withServer(vaults.command('delete'))
    .description('Delete vaults with their credentials')
    .argument('<vault...>', 'ids of the vaults, from "vaults list"')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (ids: string[], options: object) => {
      const { deleteVaults } = await import('../../vaults/vaults.ts');
      done(await deleteVaults(io, ids, options));
    });

const EXAMPLES = `
Examples:
  $ fleetloom vaults
  $ VAULT=$(fleetloom vaults create Team)
  $ fleetloom credentials add $VAULT --mcp-url https://mcp.example.com/mcp
  $ fleetloom vaults connect $VAULT https://mcp.example.com/mcp
  $ fleetloom vaults archive $VAULT
`;
