import { join } from 'node:path';
import type { Networking } from '@fleetloom/protocol/managed-agents';
import { openSocketDirectory, type SocketDirectory } from '../../../base/files/open-socket-directory.ts';
import type { TreeRemover } from '../../../base/files/remove-tree.ts';
import type { McpAuthorization } from '../../../base/outgoing-http.ts';
import { inBackground } from '../../../base/in-background.ts';
import { type Schedule, systemSchedule } from '../../../base/schedule.ts';
import { type Gateway, type GatewaySession, type GatewaySessionOptions, openGateway } from '../gateway/gateway.ts';
import type { InstallProblem } from '../launch/find-installed.ts';
import type { ProgramHomes } from '../launch/program-homes.ts';
import { CLOSED, type ProgramPlace, READ_ONLY, type SandboxChoice, whyUnenforceable } from '../launch/program-place.ts';
import { RELAY_PORT } from '../launch/relay.ts';
import { listMcpServers } from '../list-mcp-servers.ts';
import { toEndedProgram } from '../no-program.ts';
import { createProcessRegister, type ProcessRegister } from '../process/process-register.ts';
import type { Program, ProgramEngine, ProgramFacts, ProgramOptions } from '../program.ts';
import type { ProgramNetwork } from '../program-network.ts';
import type { ProgramSandbox, SandboxMounts } from '../program-sandbox.ts';

/** Options of every program engine. */
export interface EngineOptions {
  /** The data directory: the register of running programs, the homes of programs and the sockets are below it. */
  readonly directory: string;
  /** The path of the program, or its name on PATH. */
  readonly program?: string | undefined;
  /** The environment that variables are taken from, by default this process's; only few of them reach the program. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Names of further variables that reach the program. */
  readonly passedVariables?: readonly string[] | undefined;
  readonly sandbox: SandboxChoice;
  /** Returns the mounts of a session's sandbox beside its workspace. */
  readonly openMounts?: ((sessionId: string) => Promise<SandboxMounts>) | undefined;
  /** Returns the network that a session's program may reach besides the model. */
  readonly openNetwork: (
    networking: Networking | undefined,
    sessionId: string,
  ) => ProgramNetwork | Promise<ProgramNetwork>;
  /** Returns the credentials of a session with vaults for its MCP servers. They never reach the program. */
  readonly openAuthorization?: ((sessionId: string) => McpAuthorization) | undefined;
  /** Removes the files of programs of deleted sessions. */
  readonly remover: Pick<TreeRemover, 'discard'>;
  readonly schedule?: Schedule | undefined;
  /** Called with problems that do not stop the engine. */
  readonly onProblem?: ((problem: unknown) => void) | undefined;
}

/** The facts and functions that all sessions of an engine share. */
export interface EngineShared {
  readonly isSandboxed: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly passed: readonly string[];
  readonly register: ProcessRegister;
  readonly sockets: SocketDirectory;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
  /** Opens the gateway of one session to its model and its MCP servers. */
  openPassage(asked: ProgramOptions, about: PassageOptions): Promise<GatewaySession>;
  /** Starts the program of a session, unless the engine was closed. A start that fails closes the passage. */
  startWith(passage: GatewaySession | undefined, start: () => Promise<ProgramHandle>): Promise<ProgramHandle>;
}

type PassageOptions = Pick<GatewaySessionOptions, 'upstream'> &
  Partial<Pick<GatewaySessionOptions, 'wire' | 'serve' | 'onEvent'>>;

/** The parts of an engine that depend on the program. */
export interface EngineParts<Installed extends StartedProgram> {
  /** Finds the installed program, or says why it cannot be used. */
  find(): Promise<FoundProgram<Installed>>;
  /** Finds the sandbox for a session, or says why no session can start. */
  findPlace(): Promise<ProgramPlace>;
  /** Returns the facts about the program. Null: no program is found. */
  describe(installed: Installed | null): Omit<ProgramFacts, 'version' | 'isSandboxed'>;
  /** Why this session cannot be started, apart from the checks for every program; null if it can. */
  findProblem(asked: ProgramOptions): string | null;
  /** Starts the program of a session. It may throw. */
  start(session: EngineSession<Installed>): Promise<ProgramHandle>;
  /** The files that programs keep of sessions. */
  readonly kept: Pick<ProgramHomes, 'remove' | 'list'>;
  readonly copyConversation?: ProgramEngine['copyConversation'];
  readonly recover?: ProgramEngine['recover'];
}

/** An installed program that an engine starts. The version may be known only when it runs. */
export interface StartedProgram {
  readonly path: string;
  readonly version: string | null;
}

/** An installed program, or why it cannot be used. */
export type FoundProgram<Installed extends StartedProgram> =
  | { readonly type: 'found'; readonly program: Installed }
  | { readonly type: 'problem'; readonly problem: InstallProblem<string> };

/** A session whose program is started. */
export interface EngineSession<Installed extends StartedProgram> {
  readonly asked: ProgramOptions;
  readonly mounts: SandboxMounts | undefined;
  readonly installed: Installed;
  /** Null: the program runs without a sandbox. */
  readonly sandbox: ProgramSandbox | null;
}

/** A running program. `gone` resolves when no process of it is left. */
export interface ProgramHandle extends Program {
  readonly gone: Promise<void>;
}

/**
 * The engine of one program: checks before each start, keeps the running programs, and ends them. `names` are directories below the data
 * directory.
 */
export function createProgramEngine<Installed extends StartedProgram>(
  names: { readonly programs: string; readonly sockets: string },
  options: EngineOptions,
  toParts: (shared: EngineShared) => EngineParts<Installed>,
): ProgramEngine {
  const { directory, environment = process.env, schedule = systemSchedule, onProblem = () => {} } = options;
  const isSandboxed = options.sandbox !== 'none';
  const register = createProcessRegister(join(directory, names.programs));
  const sockets = openSocketDirectory(join(directory, names.sockets));
  const open = new Map<Program, string>();
  let closing: Promise<void> | undefined;
  let found: Promise<FoundProgram<Installed>> | undefined;
  let gateway: Promise<Gateway> | undefined;
  const { passedVariables: passed = [] } = options;
  const shared = { isSandboxed, environment, passed, register, sockets, schedule, onProblem, openPassage, startWith };
  const parts = toParts(shared);

  return {
    open: async (asked) => {
      if (closing !== undefined) return toEndedProgram(CLOSED);
      const place = await parts.findPlace();
      if (place.type === 'unavailable') return toEndedProgram(place.reason, 'program_unavailable');
      const problem = parts.findProblem(asked) ?? whyUnenforceable(asked, isSandboxed);
      if (problem !== null) return toEndedProgram(problem, 'program_unavailable');
      const known = await find();
      if (known.type === 'problem') return toEndedProgram(`${known.problem.problem}: ${known.problem.advice}`);
      try {
        const mounts = await options.openMounts?.(asked.sessionId);
        if (mounts?.isWritable === false && place.sandbox === null)
          return toEndedProgram(READ_ONLY, 'program_unavailable');
        return keep(
          await parts.start({ asked, mounts, installed: known.program, sandbox: place.sandbox }),
          asked.sessionId,
        );
      } catch (error) {
        if (closing !== undefined) return toEndedProgram(CLOSED);
        // Most failed starts are reported by the process later; a command line that is too long throws here.
        return toEndedProgram(`it cannot be started: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
    whyUnavailable: async () => {
      const place = await parts.findPlace();
      return place.type === 'unavailable' ? place.reason : null;
    },
    describe: async () => {
      const known = await find();
      const installed = known.type === 'found' ? known.program : null;
      return { version: installed?.version ?? null, isSandboxed, ...parts.describe(installed) };
    },
    copyConversation: parts.copyConversation ?? (async () => false),
    recover: parts.recover ?? async function* () {},
    forget: async (sessionId) => {
      const own = [...open].filter(([, id]) => id === sessionId).map(([program]) => program);
      await Promise.all(own.map((program) => program.close()));
      await parts.kept.remove(sessionId);
    },
    listKept: () => parts.kept.list(),
    reap: async () => {
      await sockets.clear();
      return await register.reap();
    },
    close: () => (closing ??= end()),
  };

  function keep(opened: ProgramHandle, sessionId: string): Program {
    open.set(opened, sessionId);
    // A program that ends on its own is not closed by its session.
    const forget = () => open.delete(opened);
    inBackground(opened.gone.then(forget), onProblem);
    return { ...opened, close: (how) => opened.close(how).finally(forget) };
  }

  async function openPassage(asked: ProgramOptions, about: PassageOptions): Promise<GatewaySession> {
    const { agent, members, networking, hasVaults = false } = asked;
    const way = await openGatewayOnce();
    const mcpServers = listMcpServers([agent, ...members]);
    const authorization = hasVaults ? options.openAuthorization?.(asked.sessionId) : undefined;
    const network = await options.openNetwork(networking, asked.sessionId);
    return await way.open({ mcpServers, network, authorization, onEvent: () => {}, ...about });
  }

  async function startWith(
    passage: GatewaySession | undefined,
    start: () => Promise<ProgramHandle>,
  ): Promise<ProgramHandle> {
    try {
      if (closing !== undefined) throw new Error(CLOSED);
      return await start();
    } catch (error) {
      passage?.close();
      throw error;
    }
  }

  async function openGatewayOnce(): Promise<Gateway> {
    const opening = (gateway ??= isSandboxed
      ? sockets.open().then((path) => openGateway({ sockets: { directory: path, port: RELAY_PORT }, onProblem }))
      : openGateway({ onProblem }));
    try {
      return await opening;
    } catch (error) {
      // Reset, so that the next session tries again.
      gateway = undefined;
      throw error;
    }
  }

  /** Finds the program once. A problem is not kept, because the program may be installed later. */
  async function find(): Promise<FoundProgram<Installed>> {
    found ??= parts.find();
    const known = await found;
    if (known.type === 'problem') found = undefined;
    return known;
  }

  async function end(): Promise<void> {
    await Promise.all([...open.keys()].map((program) => program.close()));
    await (await gateway?.catch(() => null))?.close();
    await sockets.close();
  }
}
