import { locateProgram } from '../launch/find-installed.ts';
import type { FoundProgram } from '../engine/create-program-engine.ts';

/** The command of an ACP agent on this machine. The version is known only when it runs. */
export interface AcpAgent {
  readonly path: string;
  readonly args: readonly string[];
  readonly version: null;
}

/** Finds the command of an agent, by a path or a name on PATH. Never throws: problems are returned. */
export async function findAgent(
  name: string,
  [program = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<FoundProgram<AcpAgent>> {
  if (program === '')
    return toProblem(null, `no ACP agent is named ${name}`, `start the server with --acp '${name}=command'`);
  const located = await locateProgram(program, environment['PATH'] ?? '');
  const { path } = located;
  if (located.type === 'path') return { type: 'found', program: { path: located.path, args, version: null } };
  const advice = `install it, or give another command with --acp '${name}=command'`;
  if (located.type === 'blocked') return toProblem(path, `${path} is not executable`, advice);
  return toProblem(path, path === null ? `no ${program} on PATH` : `there is no file ${path}`, advice);
}

function toProblem(path: string | null, problem: string, advice: string): FoundProgram<AcpAgent> {
  return { type: 'problem', problem: { reason: 'not_found', path, problem, advice } };
}
