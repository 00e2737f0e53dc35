import { UsageError } from '../base/usage-error.ts';

/** An ACP agent of the operator: its name in models, and the command that starts it. */
export interface AcpChoice {
  readonly name: string;
  readonly command: readonly string[];
}

/**
 * Parses a value of `--acp`. Arguments are separated by spaces; one with spaces is put in quotes.
 *
 * @example
 * parseAcp('opencode=opencode acp'); // { name: 'opencode', command: ['opencode', 'acp'] }
 */
export function parseAcp(value: string): AcpChoice {
  const at = value.indexOf('=');
  const name = value.slice(0, Math.max(at, 0)).trim();
  const command = [...value.slice(at + 1).matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
  if (!/^[A-Za-z0-9][\w.-]{0,62}$/.test(name) || command.length === 0) {
    const advice = 'Pass a name and a command, such as --acp "opencode=opencode acp"; the name is part of the model.';
    throw new UsageError(`"${value}" is not an ACP agent.`, advice);
  }
  return { name, command };
}
