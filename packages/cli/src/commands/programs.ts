import { toWorkspaceId } from '../connection/to-workspace-id.ts';
import { UsageError } from '../usage-error.ts';

/** What an operator says about programs that run whole sessions. */
export interface ProgramOptions {
  /** Workspaces that may use them, by their names. False: none, also where there would be one. */
  programs?: string[] | boolean;
  /** Names of variables that reach them. */
  programEnv?: string[];
  /** Without a sandbox. */
  unsandboxedPrograms?: boolean;
  /** The claude program, by a path or a name on PATH. */
  claude?: string;
  /** It uses its own login. */
  claudeLogin?: boolean;
  /** The endpoint for its model requests then, instead of `ANTHROPIC_BASE_URL`. */
  modelBaseUrl?: string;
}

/** What the server is to know of it. */
export function toClaudeCode(options: ProgramOptions) {
  return {
    workspaces: toProgramNames(options).map(toWorkspaceId),
    program: options.claude,
    usesOwnLogin: options.claudeLogin,
    loginBaseURL: options.modelBaseUrl,
    passedVariables: toNames(options.programEnv).map(toVariableName),
    isUnsandboxed: options.unsandboxedPrograms,
  };
}

/** The names of the workspaces, each once. */
export function toProgramNames({ programs }: ProgramOptions): string[] {
  return Array.isArray(programs) ? toNames(programs) : [];
}

/** For whoever runs a server for themselves: their own workspace, unless others could reach it, or they say otherwise. */
export function withOwnPrograms<Options extends ProgramOptions>(options: Options, host: string | undefined): Options {
  if (Array.isArray(options.programs) || options.programs === false || !isLoopback(host)) return options;
  return { ...options, programs: ['default'] };
}

/** In one line. */
export function describePrograms(options: ProgramOptions): string | undefined {
  const names = toProgramNames(options);
  if (names.length === 0) return undefined;
  const where = options.unsandboxedPrograms === true ? 'WITHOUT a sandbox' : 'only in the sandbox';
  return `claude-code/… for workspace ${names.join(', ')}, ${where}`;
}

function isLoopback(host = '127.0.0.1'): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** One in each, or several with commas between them. */
function toNames(values: readonly string[] = []): string[] {
  const names = values.flatMap((value) => value.split(',')).map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

function toVariableName(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name;
  throw new UsageError(
    `"${name}" is not the name of a variable.`,
    'Give its name alone: its value is what it is here.',
  );
}
