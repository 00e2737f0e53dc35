import type { DeclareCommand } from '../context.ts';
import { SERVER_EXIT_CODES } from '../exit-code-help.ts';
import { withServer } from '../server-options.ts';

/** `fleetloom secrets` with its sub-commands. */
export const declareSecrets: DeclareCommand = (program, context) => {
  const secrets = program
    .command('secrets')
    .description('Show which master keys encrypt the stored secrets, and change to another one')
    .addHelpText('after', EXAMPLES);
  for (const declare of [declareStatus, declareRotate]) declare(secrets, context);
  return secrets;
};

const declareStatus: DeclareCommand = (secrets, { io, done }) =>
  withServer(secrets.command('status', { isDefault: true }))
    .description('Count the stored secrets by the id of the master key that encrypted them')
    .option('--json', 'print one JSON object')
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (options: object) => {
      const { showSecrets } = await import('../../vaults/secrets.ts');
      done(await showSecrets(io, options));
    });

const declareRotate: DeclareCommand = (secrets, { io, done }) =>
  withServer(secrets.command('rotate'))
    .description(
      'Encrypt all secrets of older master keys with the current one, while the server runs; may be repeated',
    )
    .addHelpText('after', EXAMPLES + SERVER_EXIT_CODES)
    .action(async (options: object) => {
      const { rotateSecrets } = await import('../../vaults/secrets.ts');
      done(await rotateSecrets(io, options));
    });

const EXAMPLES = `
Examples:
  $ FLEETLOOM_MASTER_KEY=$NEW FLEETLOOM_MASTER_KEY_OLD=$OLD fleetloom serve
  $ fleetloom secrets rotate
  $ fleetloom secrets status
`;
