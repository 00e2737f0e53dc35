import { Argument } from 'commander';
import { writeText } from '../../base/write-text.ts';
import { type Shell, shells } from '../../completion/scripts.ts';
import type { DeclareCommand } from '../context.ts';

/** `fleetloom completion`. */
export const declareCompletion: DeclareCommand = (program, { io }) =>
  program
    .command('completion')
    .description('Print a completion script for your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .addHelpText('after', EXAMPLES)
    .action(async (shell: Shell) => {
      const [{ listWords }, { toCompletionScript }] = await Promise.all([
        import('../../completion/words.ts'),
        import('../../completion/scripts.ts'),
      ]);
      await writeText(io.stdout, toCompletionScript(shell, listWords(program)));
    });

const EXAMPLES = `
Examples:
  $ source <(fleetloom completion bash)
  $ fleetloom completion zsh > ~/.zfunc/_fleetloom
  $ fleetloom completion fish > ~/.config/fish/completions/fleetloom.fish
`;
