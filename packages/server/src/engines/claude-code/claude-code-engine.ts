import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Networking } from '@fleetloom/protocol/managed-agents';
import { inBackground } from '../../base/in-background.ts';
import type { TreeRemover } from '../../base/remove-tree.ts';
import { type Schedule, systemSchedule } from '../../base/schedule.ts';
import { toEndedProgram } from '../no-program.ts';
import type { Program, ProgramEngine, ProgramOptions } from '../program.ts';
import { settingsChoices } from '../program-options.ts';
import { type Capabilities, capabilitiesOf, NEWEST_VERSION } from './capabilities.ts';
import { openClaudeProgram, type ProgramGateway } from './claude-program.ts';
import { type ClaudeProgram, type FoundProgram, findClaudeProgram } from './find-program.ts';
import type { GatewayEvent } from './gateway/events.ts';
import { type Gateway, openGateway } from './gateway/gateway.ts';
import type { ProgramNetwork } from './gateway/program-network.ts';
import { whyNoGateway } from './gateway/unusable.ts';
import type { Upstream } from './gateway/upstream.ts';
import { openSocketDirectory } from './launch/open-socket-directory.ts';
import { findOperatorLogin } from './launch/operator-login.ts';
import { copyConversation } from './launch/copy-conversation.ts';
import { CONFIG, createProgramHomes, PROGRAM_HOMES } from './launch/program-homes.ts';
import { RELAY_PORT } from './launch/relay.ts';
import { type ProgramSandbox, toLaunch } from './launch/to-launch.ts';
import { createProcessRegister } from './process-register.ts';
import { listMcpServers } from './to-arguments.ts';
import { findServerNameProblem } from './tool-policy.ts';
import { toSettings } from './to-settings.ts';
import { type ProgramHome, toEnvironment, toGatewayVariables } from './to-environment.ts';
import { measureTranscripts } from './transcript/measure-transcripts.ts';
import { createOperatorTranscripts } from './transcript/operator-transcripts.ts';

export interface ClaudeCodeOptions {
  /** The data directory: running programs, what each session's program keeps, and sockets are below it. */
  readonly directory: string;
  /** Where the program is, by a path or a name on PATH. By default `claude`. */
  readonly program?: string | undefined;
  /** Where its variables come from, by default this process; only few of them reach it. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Names of further variables that reach it. */
  readonly passedVariables?: readonly string[] | undefined;
  /** It uses the operator's own login, instead of the credential of `upstream`. */
  readonly usesOwnLogin?: boolean | undefined;
  /** Where programs run. `none`: on the machine, as the user of this process, which only the operator may want. */
  readonly sandbox: 'none' | (() => Promise<ProgramSandboxState>);
  /** What a session lets its program reach beside the model. */
  readonly openNetwork: (networking: Networking | undefined) => ProgramNetwork;
  /** Where its requests go. Null: where it sends them itself, and then its sub-agents are shown block by block. */
  readonly upstream: Upstream | null;
  /** Removes what programs of deleted sessions have left. */
  readonly remover: Pick<TreeRemover, 'discard'>;
  readonly schedule?: Schedule | undefined;
  /** Told of what does not stop anything, such as a gateway that cannot be used. */
  readonly onProblem?: ((problem: unknown) => void) | undefined;
}

export type ProgramSandboxState =
  | { readonly type: 'ready'; readonly sandbox: ProgramSandbox }
  | { readonly type: 'unavailable'; readonly reason: string };

type Place =
  | { readonly type: 'ready'; readonly sandbox: ProgramSandbox | null }
  | { readonly type: 'unavailable'; readonly reason: string };

/**
 * The user's own `claude` program, one process for each session.
 *
 * @example
 * const engine = createClaudeCodeEngine({ directory: dataDirectory, sandbox, openNetwork, upstream, remover });
 */
export function createClaudeCodeEngine(options: ClaudeCodeOptions): ProgramEngine {
  const { directory, environment = process.env, upstream, schedule = systemSchedule, onProblem = () => {} } = options;
  const { passedVariables: passed = [], usesOwnLogin = false, openNetwork } = options;
  const isSandboxed = options.sandbox !== 'none';
  const findLogin = () => findOperatorLogin(environment, usesOwnLogin);
  const register = createProcessRegister(join(directory, 'programs'));
  const homes = createProgramHomes(join(directory, PROGRAM_HOMES), options.remover);
  const operatorTranscripts = createOperatorTranscripts(join(directory, 'program-conversations'));
  const sockets = openSocketDirectory(join(directory, 'program-sockets'));
  const open = new Map<Program, string>();
  /** What cannot pass through the gateway because of the variables that this server and the program have. */
  const seen = toGatewayVariables(environment, passed);
  const noGateway = upstream === null ? undefined : whyNoGateway(seen, upstream);
  let closing: Promise<void> | undefined;
  let found: Promise<FoundProgram> | undefined;
  let gateway: Promise<Gateway | null> | undefined;

  return {
    open: async (asked) => {
      if (closing !== undefined) return toEndedProgram(CLOSED);
      const place = await findPlace();
      if (place.type === 'unavailable') return toEndedProgram(place.reason, 'program_unavailable');
      const problem = whyUnenforceable(asked) ?? findServerNameProblem([asked.agent, ...asked.members]);
      if (problem !== null) return toEndedProgram(problem, 'program_unavailable');
      const program = await find();
      if (program.type === 'problem') return toEndedProgram(`${program.problem.problem}: ${program.problem.advice}`);
      try {
        return await begin(asked, program.program, place.sandbox);
      } catch (error) {
        // Most of what keeps a program from starting is told later; what is too long for a command line is thrown.
        return toEndedProgram(`it cannot be started: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
    whyUnavailable: async () => {
      const place = await findPlace();
      return place.type === 'unavailable' ? place.reason : null;
    },
    describe: async () => {
      const known = await find();
      const { version, supports } = known.type === 'found' ? known.program : { version: null, supports: newest };
      return {
        version,
        isSandboxed,
        permissionModes: supports.permissionModes,
        depths: toDepths(supports),
        settings: isSandboxed ? settingsChoices.filter((choice) => choice !== 'user') : settingsChoices,
      };
    },
    copyConversation: async ({ conversation, message, from, to }) => {
      const [source, target] = await Promise.all([configOf(from.sessionId), configOf(to.sessionId)]);
      const places = {
        from: { config: source, directory: from.directory },
        to: { config: target, directory: to.directory },
      };
      return await copyConversation({ conversation, message, ...places }, schedule);
    },
    forget: async (sessionId) => {
      const own = [...open].filter(([, id]) => id === sessionId).map(([program]) => program);
      await Promise.all(own.map((program) => program.close()));
      await Promise.all([homes.remove(sessionId), operatorTranscripts.remove(sessionId)]);
    },
    listKept: async () => [...new Set([...(await homes.list()), ...(await operatorTranscripts.list())])],
    reap: async () => {
      await sockets.clear();
      return await register.reap();
    },
    close: () => (closing ??= end()),
  };

  async function begin(
    asked: ProgramOptions,
    { path, supports }: ClaudeProgram,
    sandbox: ProgramSandbox | null,
  ): Promise<Program> {
    const home = await openHome(asked.sessionId);
    const projects = join(toConfig(home), 'projects');
    const sizes = asked.resume === null ? new Map<string, number>() : await measureTranscripts(projects, asked.resume);
    const way = await openWayOnce();
    const passage = way === null ? undefined : await openPassage(way, asked);
    if (closing !== undefined) {
      passage?.session.close();
      return toEndedProgram(CLOSED);
    }
    const inherited = toEnvironment({ inherited: environment, passed, isSandboxed, home, depthMax: asked.depthMax });
    const login = findLogin();
    const ours = passage?.session.environment(inherited);
    const env = { ...inherited, ...login.variables, ...(await showUserSettings(asked, home)), ...ours };
    const settingsFile = await writeSettings(asked, ours);
    const socketPath = passage?.session.socketPath ?? null;
    const about = { sandbox, path, env, directory: asked.directory, home, socketPath, loginFile: login.file };
    try {
      const opened = openClaudeProgram({
        ...asked,
        hearsNested: supports.forwardsNestedText,
        settingsFile,
        toLaunch: (args) => toLaunch({ ...about, args }),
        transcripts: { projects, sizes },
        onConversation: (conversation) => {
          if (home.type === 'own') return;
          inBackground(
            operatorTranscripts.add(asked.sessionId, conversation, { projects, directory: asked.directory }),
            onProblem,
          );
        },
        register,
        schedule,
        gateway: passage,
      });
      open.set(opened, asked.sessionId);
      // Also one that ends by itself, which nobody closes.
      const forget = () => open.delete(opened);
      inBackground(opened.gone.then(forget), onProblem);
      return { ...opened, close: () => opened.close().finally(forget) };
    } catch (error) {
      passage?.session.close();
      throw error;
    }
  }

  /** Null is a place without a sandbox, which only the operator's word makes: whatever else goes wrong starts nothing. */
  async function findPlace(): Promise<Place> {
    if (options.sandbox === 'none') return { type: 'ready', sandbox: null };
    const state = await options.sandbox();
    if (state.type === 'unavailable') {
      return { type: 'unavailable', reason: `${state.reason}, and programs run in a sandbox: ${INSTALL}` };
    }
    const problem = whyNoWay();
    return problem === null ? state : { type: 'unavailable', reason: problem };
  }

  /** Nobody's but the session's, except that a login which is not in a file is found in the operator's only. */
  async function openHome(sessionId: string): Promise<ProgramHome> {
    if (usesOwnLogin && !isSandboxed) return { type: 'operator' };
    return { type: 'own', path: await homes.open(sessionId) };
  }

  /** Where the program keeps its transcripts. */
  async function configOf(sessionId: string): Promise<string> {
    return toConfig(await openHome(sessionId));
  }

  function toConfig(home: ProgramHome): string {
    return home.type === 'operator' ? operatorConfig() : join(home.path, CONFIG);
  }

  function operatorConfig(): string {
    const { CLAUDE_CONFIG_DIR: config, HOME: directory = homedir() } = environment;
    return config ?? join(directory, CONFIG);
  }

  /** The operator's settings are shown in the session's own directory, where its transcripts stay. Their hooks need the operator's HOME. */
  async function showUserSettings(
    { sessionId, settings }: ProgramOptions,
    home: ProgramHome,
  ): Promise<Readonly<Record<string, string>>> {
    if (settings !== 'user' || home.type === 'operator') return {};
    await homes.linkSettings(sessionId, operatorConfig());
    return { HOME: environment['HOME'] ?? homedir() };
  }

  /**
   * Settings of a user or project may set variables, and those would override the gateway's. Ours have precedence. They are in a file,
   * because the secret of the gateway must not be on the command line.
   */
  async function writeSettings(
    { sessionId, agent, members, settings = 'none' }: ProgramOptions,
    env: Readonly<Record<string, string>> | undefined,
  ): Promise<string | undefined> {
    if (settings === 'none') return undefined;
    return await homes.writeSettings(sessionId, {
      ...toSettings([agent, ...members], settings),
      ...(env === undefined ? {} : { env }),
    });
  }

  async function openWayOnce(): Promise<Gateway | null> {
    gateway ??= openWay();
    try {
      return await gateway;
    } catch (error) {
      // The next session tries again.
      gateway = undefined;
      throw error;
    }
  }

  async function openWay(): Promise<Gateway | null> {
    if (noGateway !== undefined) onProblem(noGateway.message);
    if (isSandboxed)
      return await openGateway({ sockets: { directory: await sockets.open(), port: RELAY_PORT }, onProblem });
    if (upstream === null || noGateway !== undefined) return null;
    return await openGateway({ onProblem }).catch((error: unknown) => (onProblem(error), null));
  }

  async function openPassage(way: Gateway, { agent, members, networking }: ProgramOptions): Promise<ProgramGateway> {
    let listener: (event: GatewayEvent) => void = () => {};
    const session = await way.open({
      upstream: noGateway === undefined ? upstream : null,
      mcpServers: listMcpServers([agent, ...members]),
      network: openNetwork(networking),
      onEvent: (event) => listener(event),
    });
    return { session, hear: (next) => (listener = next) };
  }

  /** One that was not there may be installed by now. */
  async function find(): Promise<FoundProgram> {
    found ??= findClaudeProgram({ program: options.program, environment });
    const known = await found;
    if (known.type === 'problem') found = undefined;
    return known;
  }

  /** A sandbox has no way to the model but through this server, and shows no more of the operator's login than a file. */
  function whyNoWay(): string | null {
    if (noGateway?.cause === 'proxy') return `${noGateway.message}: ${WITH_PROXY}`;
    return findLogin().problem;
  }

  /** Without a sandbox nobody could keep a program to some hosts: what cannot be held is not begun. */
  function whyUnenforceable({ networking, settings }: ProgramOptions): string | null {
    if (isSandboxed && settings === 'user') return 'a program in the sandbox does not see the settings of the operator';
    if (isSandboxed || networking?.type !== 'limited') return null;
    return 'without a sandbox it cannot be kept to the hosts that this environment allows: use one with unrestricted networking, or the sandbox';
  }

  async function end(): Promise<void> {
    await Promise.all([...open.keys()].map((program) => program.close()));
    await (await gateway?.catch(() => null))?.close();
    await sockets.close();
  }
}

/** Where no program is found, what the newest known version supports is assumed. */
const newest = capabilitiesOf(NEWEST_VERSION);

/** A version without a limit always delegates as deep as it can: a smaller depth could not be kept. */
function toDepths({ spawnDepthMax: max, canLimitSpawnDepth }: Capabilities): readonly number[] {
  return canLimitSpawnDepth ? Array.from({ length: max }, (_, at) => at + 1) : [max];
}

const CLOSED = 'the engine is closed';

const INSTALL =
  'on Linux install bubblewrap, elsewhere the operator can allow programs without one (--unsandboxed-programs)';
const WITH_PROXY =
  'a program in the sandbox reaches its model through this server only, which uses no proxy; set NO_PROXY for the endpoint, or use --unsandboxed-programs';
