import { type Schedule, systemSchedule } from '../../base/schedule.ts';
import { toEndedProgram } from '../no-program.ts';
import type { Program, ProgramEngine, ProgramOptions } from '../program.ts';
import { openClaudeProgram } from './claude-program.ts';
import { type ClaudeProgram, type FoundProgram, findClaudeProgram } from './find-program.ts';
import { type Gateway, openGateway } from './gateway/gateway.ts';
import { whyNoGateway } from './gateway/unusable.ts';
import type { Upstream } from './gateway/upstream.ts';
import { createProcessRegister } from './process-register.ts';
import { toEnvironment } from './to-environment.ts';

export interface ClaudeCodeOptions {
  /** Where running programs are written down. */
  readonly directory: string;
  /** Where the program is, by a path or a name on PATH. By default `claude`. */
  readonly program?: string | undefined;
  /** What it inherits; by default what this process has. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Where its requests go. Null: where it sends them itself, and then its sub-agents are shown block by block. */
  readonly upstream: Upstream | null;
  readonly schedule?: Schedule | undefined;
  /** Told of what does not stop anything, such as a gateway that cannot be used. */
  readonly onProblem?: ((problem: unknown) => void) | undefined;
}

/**
 * The user's own `claude` program, one process for each session.
 *
 * @example
 * const engine = createClaudeCodeEngine({ directory: join(dataDirectory, 'programs'), upstream });
 */
export function createClaudeCodeEngine(options: ClaudeCodeOptions): ProgramEngine {
  const { directory, environment = process.env, upstream, schedule = systemSchedule, onProblem = () => {} } = options;
  const register = createProcessRegister(directory);
  const open = new Set<Program>();
  let closing: Promise<void> | undefined;
  let found: Promise<FoundProgram> | undefined;
  let gateway: Promise<Gateway | null> | undefined;

  /** One that was not there may be installed by now. */
  const find = async (): Promise<FoundProgram> => {
    found ??= findClaudeProgram({ program: options.program, environment });
    const known = await found;
    if (known.type === 'problem') found = undefined;
    return known;
  };
  const openWay = async (): Promise<Gateway | null> => {
    const reason = upstream === null ? undefined : whyNoGateway(environment, upstream);
    if (reason !== undefined) onProblem(reason);
    if (upstream === null || reason !== undefined) return null;
    return openGateway({ onProblem }).catch((error: unknown) => (onProblem(error), null));
  };

  const begin = (asked: ProgramOptions, { path, supports }: ClaudeProgram, way: Gateway | null): Program => {
    const opened = openClaudeProgram({
      ...asked,
      path,
      env: toEnvironment(environment, asked.depthMax),
      hearsNested: supports.forwardsNestedText,
      register,
      schedule,
      openGateway: way === null || upstream === null ? undefined : (onEvent) => way.open({ upstream, onEvent }),
    });
    open.add(opened);
    return { ...opened, close: () => opened.close().finally(() => open.delete(opened)) };
  };

  const end = async () => {
    await Promise.all([...open].map((program) => program.close()));
    await (await gateway)?.close();
  };

  return {
    open: async (asked) => {
      const program = await find();
      if (program.type === 'problem') return toEndedProgram(`${program.problem.problem}: ${program.problem.advice}`);
      const way = await (gateway ??= openWay());
      if (closing !== undefined) return toEndedProgram('the engine is closed');
      try {
        return begin(asked, program.program, way);
      } catch (error) {
        // Most of what keeps a program from starting is told later; what is too long for a command line is thrown.
        return toEndedProgram(`it cannot be started: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
    reap: () => register.reap(),
    close: () => (closing ??= end()),
  };
}
