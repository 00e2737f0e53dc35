import { homedir } from 'node:os';
import { join } from 'node:path';
import { inBackground } from '../../../base/in-background.ts';
import {
  createProgramEngine,
  type EngineOptions,
  type EngineParts,
  type EngineSession,
  type EngineShared,
  type ProgramHandle,
} from '../engine/create-program-engine.ts';
import type { GatewayEvent } from '../gateway/events.ts';
import { whyNoGateway } from '../gateway/unusable.ts';
import type { Upstream } from '../gateway/upstream.ts';
import { createProgramHomes, PROGRAM_HOMES, type ProgramHome } from '../launch/program-homes.ts';
import { findPlace, type ProgramPlace } from '../launch/program-place.ts';
import { type LaunchOptions, toLaunch } from '../launch/to-launch.ts';
import { type ProgramEngine, type ProgramOptions, settingsChoices } from '../program.ts';
import type { ProgramOwner } from '../program-owner.ts';
import { findServerNameProblem } from './approvals/tool-policy.ts';
import { type Capabilities, capabilitiesOf, NEWEST_VERSION, programCapabilities } from './capabilities.ts';
import { openClaudeProgram, type ProgramGateway } from './claude-program.ts';
import { type ClaudeProgram, findClaudeProgram } from './find-program.ts';
import { copyConversation } from './launch/copy-conversation.ts';
import { homeLayout } from './launch/home-layout.ts';
import { findOperatorLogin } from './launch/operator-login.ts';
import { toEnvironment, toGatewayVariables } from './launch/to-environment.ts';
import { toSettings } from './launch/to-settings.ts';
import { recoverConversation } from './recover-conversation.ts';
import { measureTranscripts } from './transcript/measure-transcripts.ts';
import { createOperatorTranscripts } from './transcript/operator-transcripts.ts';

/** Options of the claude-code engine. */
export interface ClaudeCodeOptions extends EngineOptions {
  /** The program uses the operator's own login instead of the credential of `upstream`. */
  readonly usesOwnLogin?: boolean | undefined;
  /** The endpoint of model requests. Null: the program's own endpoint; the text of sub-agents then arrives block by block. */
  readonly upstream: Upstream | null;
}

/**
 * The user's own `claude` program, one process for each session.
 *
 * @example
 * const engine = createClaudeCodeEngine({ directory: dataDirectory, sandbox, openNetwork, upstream, remover });
 */
export function createClaudeCodeEngine(options: ClaudeCodeOptions): ProgramEngine {
  const names = { programs: 'programs', sockets: 'program-sockets' };
  return createProgramEngine(names, options, (shared) => toParts(options, shared));
}

function toParts(options: ClaudeCodeOptions, shared: EngineShared): EngineParts<ClaudeProgram> {
  const { isSandboxed, environment, passed, register, schedule, onProblem } = shared;
  const { directory, upstream, usesOwnLogin = false } = options;
  const findLogin = () => findOperatorLogin(environment, usesOwnLogin);
  const homes = createProgramHomes(join(directory, PROGRAM_HOMES), options.remover, homeLayout);
  const operatorTranscripts = createOperatorTranscripts(join(directory, 'program-conversations'));
  /** The variables of this server and the program that decide whether the gateway can be used. */
  const seen = toGatewayVariables(environment, passed);
  const noGateway = upstream === null ? undefined : whyNoGateway(seen, upstream);
  let isReported = false;

  return {
    find: () => findClaudeProgram({ program: options.program, environment }),
    findPlace: findPlaceWithWay,
    findProblem: ({ agent, members }) => findServerNameProblem([agent, ...members]),
    describe: (installed) => {
      const { supports } = installed ?? { supports: newest };
      return {
        permissionModes: supports.permissionModes,
        depths: toDepths(supports),
        settings: isSandboxed ? settingsChoices.filter((choice) => choice !== 'user') : settingsChoices,
        controls: supports.controls,
        capabilities: { ...programCapabilities, subAgentText: hasTap() ? 'deltas' : 'blocks' },
      };
    },
    start: async (session) => {
      const home = await openHome(session.asked);
      const projects = join(toConfig(home), 'projects');
      const { resume } = session.asked;
      const sizes = resume === null ? new Map<string, number>() : await measureTranscripts(projects, resume);
      const passage = await openPassage(session.asked);
      return await shared.startWith(passage?.session, () => start(session, { home, passage, projects, sizes }));
    },
    kept: {
      remove: async (sessionId) => {
        await Promise.all([homes.remove(sessionId), operatorTranscripts.remove(sessionId)]);
      },
      list: async () => [...new Set([...(await homes.list()), ...(await operatorTranscripts.list())])],
    },
    copyConversation: async ({ conversation, message, from, to }) => {
      const [source, target] = await Promise.all([configOf(from), configOf(to)]);
      const places = {
        from: { config: source, directory: from.directory },
        to: { config: target, directory: to.directory },
      };
      return await copyConversation({ conversation, message, ...places }, schedule);
    },
    recover: async function* (ended) {
      const projects = join(await configOf(ended), 'projects');
      yield* recoverConversation(projects, ended);
    },
  };

  async function start(
    { asked, mounts, installed: { path, supports }, sandbox }: EngineSession<ClaudeProgram>,
    { home, passage, projects, sizes }: SessionParts,
  ): Promise<ProgramHandle> {
    const inherited = toEnvironment({ inherited: environment, passed, isSandboxed, home, depthMax: asked.depthMax });
    const login = findLogin();
    const ours = passage?.session.environment(inherited);
    const env = { ...inherited, ...login.variables, ...(await showUserSettings(asked, home)), ...ours };
    const settingsFile = await writeSettings(asked, ours);
    const socketPath = passage?.session.socketPath ?? null;
    const { directory: workspace } = asked;
    const files = { directory: workspace, mounts, home, socketPath, login: toLoginMount(home, login.file) };
    return openClaudeProgram({
      ...asked,
      hearsNested: supports.forwardsNestedText,
      controls: supports.controls,
      settingsFile,
      toLaunch: (args) => toLaunch({ sandbox, path, env, ...files, args }),
      transcripts: { projects, sizes },
      onConversation: (conversation) => {
        if (home.type === 'own') return;
        const added = operatorTranscripts.add(asked.sessionId, conversation, { projects, directory: workspace });
        inBackground(added, onProblem);
      },
      register,
      schedule,
      gateway: passage,
    });
  }

  /** Whether model requests pass the gateway, which reads the text of sub-agents from the responses. */
  function hasTap(): boolean {
    return upstream !== null && noGateway === undefined;
  }

  async function findPlaceWithWay(): Promise<ProgramPlace> {
    const place = await findPlace(options.sandbox);
    const problem = place.type === 'ready' && isSandboxed ? whyNoWay() : null;
    return problem === null ? place : { type: 'unavailable', reason: problem };
  }

  /** Each program has its own home directory, except that a login which is not in a file is only found in the operator's home. */
  async function openHome(owner: ProgramOwner): Promise<ProgramHome> {
    if (usesOwnLogin && !isSandboxed) return { type: 'operator' };
    return { type: 'own', path: await homes.open(owner) };
  }

  function toLoginMount(home: ProgramHome, file: string | null): LaunchOptions['login'] {
    return file === null ? null : { file, at: join(toConfig(home), homeLayout.login) };
  }

  /** The configuration directory, in which the program keeps its transcripts. */
  async function configOf(owner: ProgramOwner): Promise<string> {
    return toConfig(await openHome(owner));
  }

  function toConfig(home: ProgramHome): string {
    return home.type === 'operator' ? operatorConfig() : join(home.path, homeLayout.config);
  }

  function operatorConfig(): string {
    const { CLAUDE_CONFIG_DIR: config, HOME: directory = homedir() } = environment;
    return config ?? join(directory, homeLayout.config);
  }

  /** Links the operator's settings into the session's own directory, where its transcripts stay. Hooks in the settings need the operator's HOME. */
  async function showUserSettings(asked: ProgramOptions, home: ProgramHome): Promise<Readonly<Record<string, string>>> {
    if (asked.settings !== 'user' || home.type === 'operator') return {};
    await homes.linkSettings(asked, operatorConfig());
    return { HOME: environment['HOME'] ?? homedir() };
  }

  /**
   * Settings of a user or project may set variables that would override the gateway's. This server's settings have precedence. They are in a file,
   * because the secret of the gateway must not be on the command line.
   */
  async function writeSettings(
    asked: ProgramOptions,
    env: Readonly<Record<string, string>> | undefined,
  ): Promise<string | undefined> {
    const { agent, members, settings = 'none' } = asked;
    if (settings === 'none') return undefined;
    const content = { ...toSettings([agent, ...members], settings), ...(env === undefined ? {} : { env }) };
    return await homes.write(asked, SETTINGS, JSON.stringify(content));
  }

  /** Opens the session's gateway. Undefined: model requests do not pass the gateway, and the program has a network of its own. */
  async function openPassage(asked: ProgramOptions): Promise<ProgramGateway | undefined> {
    if (noGateway !== undefined && !isReported) onProblem(noGateway.message);
    isReported = true;
    if (!isSandboxed && !hasTap()) return undefined;
    let listener: (event: GatewayEvent) => void = () => {};
    const about = {
      upstream: noGateway === undefined ? upstream : null,
      onEvent: (event: GatewayEvent) => listener(event),
    };
    const opening = shared.openPassage(asked, about);
    const session = isSandboxed ? await opening : await opening.catch(onProblem);
    return session === undefined ? undefined : { session, hear: (next) => (listener = next) };
  }

  /** Why a program in the sandbox could not use its model: it reaches the model only through this server, and the login only as a file or token. */
  function whyNoWay(): string | null {
    if (noGateway?.cause === 'proxy') return `${noGateway.message}: ${WITH_PROXY}`;
    return findLogin().problem;
  }
}

/** The parts of a session beside its process. */
interface SessionParts {
  readonly home: ProgramHome;
  readonly passage: ProgramGateway | undefined;
  readonly projects: string;
  readonly sizes: ReadonlyMap<string, number>;
}

/** The capabilities of the newest known version, assumed if no program is found. */
const newest = capabilitiesOf(NEWEST_VERSION);

/** The depths that can be chosen. For a version whose depth cannot be limited, only its maximum. */
function toDepths({ spawnDepthMax: max, canLimitSpawnDepth }: Capabilities): readonly number[] {
  return canLimitSpawnDepth ? Array.from({ length: max }, (_, at) => at + 1) : [max];
}

const SETTINGS = 'settings-of-the-session.json';

const WITH_PROXY =
  'a program in the sandbox reaches its model through this server only, which uses no proxy; set NO_PROXY for the endpoint, or use --unsandboxed-programs';
