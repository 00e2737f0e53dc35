import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { SessionFrame } from '../../packages/server/src/frames/frames.ts';
import { scriptByWords } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import type { ProgramWords } from '../../packages/server/src/engines/program/suite/words.suite.ts';
import { noSandbox } from '../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { withRepository } from '../../packages/server/src/workspaces/repository.suite.ts';
import { type AgentChoice, ClaudeServer, toolset } from '../claude-code/claude-server.ts';
import { words as claudeWords } from '../claude-code/open-program.ts';
import { findProcesses } from '../claude-code/processes.ts';
import { openHostServer } from '../claude-code/scenarios/host-server.ts';
import { describeWithPrograms } from '../support/programs.ts';
import { directWords } from './codex-programs.ts';
import { opencodeWords } from './open-opencode.ts';

interface Member {
  readonly name: string;
  readonly model: string;
  readonly words: ProgramWords;
}

const claude: Member = { name: 'claude', model: 'claude-code/default', words: claudeWords };
const codex: Member = { name: 'codex', model: 'codex/gpt-5.5', words: directWords };
const opencode: Member = { name: 'opencode', model: 'opencode/scripted/default', words: opencodeWords };
const all = [claude, codex, opencode];

// One session with several real programs, through the official client; the scripted model stands behind all of them.
describeWithPrograms(['claude-code', 'codex', 'opencode'], 'mixed fleets of real programs', (paths) => {
  let fleet: MixedFleet;
  let close = () => {};
  let running: Promise<void>;

  beforeAll(async () => {
    fleet = await new Promise<MixedFleet>((resolve, reject) => {
      running = withFleet(paths, async (opened) => {
        resolve(opened);
        await new Promise<void>((end) => (close = end));
      });
      running.catch(reject);
    });
  }, 120_000);
  afterAll(async () => {
    close();
    await running;
  }, 60_000);

  it('[R410] a scripted coordinator has members on Claude Code, Codex and opencode at work at once: approvals, a denial, deltas, files, follow-ups and totals', async () => {
    const { server } = fleet;
    const session = await fleet.begin({ model: 'scripted/echo', roster: all.map(toAgent) });
    const decide = async (use: string) =>
      use.includes('codex.txt') ? { result: 'deny', deny_message: 'Not now.' } : { result: 'allow' };
    await fleet.run(session, `Begin. ${coordinate(all)}`, decide);
    expect(await server.files(session)).toEqual(['README.md', 'claude.txt', 'opencode.txt', 'src']);
    await fleet.run(session, 'Ask again.', decide);

    const { frames, problems } = await server.log(session);
    expect(problems).toEqual([]);
    const threads = await fleet.threads(session);
    const reports = all.map(({ name }) => textsOf(frames, 'agent.thread_message_sent', threads.get(name)!.id));
    expect(reports).toEqual(all.map(({ name }) => [`${name} reports.`, `${name} remembers.`]));
    await fleet.expectWork(session, all, frames);
    await fleet.end(session);
  }, 600_000);

  it('[R411] after kill -9 of the server, with one member at work, one that waits and one interrupted, the coordinator goes on, nothing runs twice and every member remembers', async () => {
    const { server } = fleet;
    const session = await fleet.begin({ model: 'scripted/echo', roster: all.map(toAgent) });
    await server.say(session, `Begin for long. ${coordinate(all)}`);
    const asks = await fleet.waitForAsks(session, 3);
    const [ask, ...others] = asks.toSorted((one) => (one.use.includes('codex') ? -1 : 1));
    for (const { id } of others) await fleet.confirm(session, id, { result: 'allow' });
    const ran = async () => (await server.readFile(session, 'ran')).trim().split('\n').toSorted();
    await vi.waitFor(async () => expect(await ran()).toEqual(['claude', 'opencode']), WAIT);
    const threads = await fleet.threads(session);
    await server.send(session, { type: 'user.interrupt', session_thread_id: threads.get('opencode')!.id });
    await fleet.waitForEnd(session, threads.get('opencode')!.id);
    expect(findProcesses(server.directory).length).toBeGreaterThan(0);

    await server.restart('SIGKILL');
    await fleet.waitForResult(session, ask!.id);
    const isOver = async () => (await server.client.beta.sessions.retrieve(session)).status === 'idle';
    await vi.waitFor(async () => expect(await isOver()).toBe(true), WAIT);
    expect(findProcesses(server.directory)).toEqual([]);
    const { frames } = await server.log(session);
    const delegated = frames.flatMap(({ type, threadId, payload }) =>
      type === 'agent.tool_result' && threadId === threads.get('coordinator')!.id
        ? [JSON.stringify(payload.content)]
        : [],
    );
    expect(delegated).toEqual([
      expect.stringMatching(
        /claude did not finish: the server was restarted.*codex did not finish: the server was restarted.*opencode did not finish: it was interrupted/,
      ),
    ]);
    const late = await fleet.confirm(session, ask!.id, { result: 'allow' }).catch(String);
    expect(late).toContain('was withdrawn because the server restarted');

    await fleet.run(session, 'Ask again.', async () => ({ result: 'deny' }));
    const after = await server.log(session);
    const reports = all.map(({ name }) =>
      textsOf(after.frames, 'agent.thread_message_sent', threads.get(name)!.id).at(-1),
    );
    expect(reports).toEqual(all.map(({ name }) => `${name} remembers.`));
    expect([after.problems, await ran()]).toEqual([[], ['claude', 'opencode']]);
    await fleet.end(session);
  }, 600_000);

  it('[R412] Claude Code as the coordinator of Codex and opencode: approvals, a denial, deltas, files, totals, an interrupt, kill -9 of the server and follow-ups', async () => {
    const { server } = fleet;
    const others = [codex, opencode];
    const session = await fleet.begin({ model: claude.model, roster: others.map(toAgent) });
    const decide = async (use: string) =>
      use.includes('codex.txt') ? { result: 'deny', deny_message: 'Not now.' } : { result: 'allow' };
    await fleet.run(session, `Begin. ${coordinate(others, claude.words)}`, decide);
    expect(await server.files(session)).toEqual(['README.md', 'opencode.txt', 'src']);
    await fleet.run(session, 'Ask again.', decide);
    const threads = await fleet.threads(session);
    const reportsOf = (frames: readonly SessionFrame[]) =>
      others.map(({ name }) => textsOf(frames, 'agent.thread_message_sent', threads.get(name)!.id));
    const first = await server.log(session);
    expect(first.problems).toEqual([]);
    expect(reportsOf(first.frames)).toEqual(others.map(({ name }) => [`${name} reports.`, `${name} remembers.`]));

    await fleet.expectWork(session, others, first.frames);

    await server.say(session, 'Begin for long.');
    const asks = await fleet.waitForAsks(session, 2);
    const [wanted, unwanted] = asks.toSorted((one) => (one.use.includes('codex') ? -1 : 1));
    await fleet.confirm(session, wanted!.id, { result: 'allow' });
    await vi.waitFor(async () => expect(await server.readFile(session, 'ran')).toBe('codex\n'), WAIT);
    // The second delegation has threads of its own; the follow-up goes to those of the first.
    const second = await fleet.threads(session);
    expect(second.get('codex')!.id).not.toBe(threads.get('codex')!.id);
    await server.send(session, { type: 'user.interrupt', session_thread_id: second.get('codex')!.id });
    await fleet.waitForEnd(session, second.get('codex')!.id);
    await server.restart('SIGKILL');
    // A session that waits for an approval is idle too, also before the next server has opened it.
    await fleet.waitForResult(session, unwanted!.id);
    const isOver = async () => (await server.client.beta.sessions.retrieve(session)).status === 'idle';
    await vi.waitFor(async () => expect(await isOver()).toBe(true), WAIT);
    expect(findProcesses(server.directory)).toEqual([]);
    const late = await fleet.confirm(session, unwanted!.id, { result: 'allow' }).catch(String);
    expect(late).toContain('was withdrawn because the server restarted');
    await fleet.run(session, 'Ask again.', decide);
    const last = await server.log(session);
    expect(reportsOf(last.frames)).toEqual(
      others.map(({ name }) => [`${name} reports.`, `${name} remembers.`, `${name} remembers.`]),
    );
    expect([last.problems, await server.readFile(session, 'ran')]).toEqual([[], 'codex\n']);
    await fleet.end(session);
  }, 600_000);
});

type Paths = Readonly<Record<'claude-code' | 'codex' | 'opencode', string>>;

/** A server in a process of its own, and a repository that its sessions may use. */
function withFleet(paths: Paths, use: (fleet: MixedFleet) => Promise<void>): Promise<void> {
  return withRepository(async ({ root, path }) => {
    const environment = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' };
    const choice = { environment, workspaces: ['wrkspc_default'], isUnsandboxed: noSandbox !== undefined };
    const host = await openHostServer(paths['claude-code'], {
      programs: { codex: { ...choice, program: paths.codex }, opencode: { ...choice, program: paths.opencode } },
      allowedDirectories: [root],
    });
    try {
      await use(new MixedFleet(new ClaudeServer(host.handle), path));
    } finally {
      await host.close();
    }
  });
}

const WAIT = { timeout: 120_000, interval: 200 };

/** Sessions of a server that work in a repository. */
class MixedFleet {
  readonly server: ClaudeServer;
  readonly #path: string;

  constructor(server: ClaudeServer, path: string) {
    this.server = server;
    this.#path = path;
  }

  async begin(agent: AgentChoice): Promise<string> {
    return await this.server.createSession(agent, { resources: [{ type: 'directory', path: this.#path }] });
  }

  /** The threads by the names of their agents. */
  async threads(session: string) {
    return new Map(
      (await this.server.threads(session)).map((thread) => ['name' in thread.agent ? thread.agent.name : '', thread]),
    );
  }

  async confirm(session: string, id: string, decision: object): Promise<void> {
    await this.server.send(session, { type: 'user.tool_confirmation', tool_use_id: id, ...decision });
  }

  /** Sends a message, and decides approvals one after the other until the session is idle. */
  async run(session: string, text: string, decide: (use: string) => Promise<object>): Promise<void> {
    const decided = new Set<string>();
    await this.server.run(session, text, async (event) => {
      const stop = event.type === 'session.status_idle' ? event.stop_reason : undefined;
      if (stop?.type !== 'requires_action') return;
      for (const id of stop.event_ids.filter((each) => !decided.has(each))) {
        decided.add(id);
        await this.confirm(session, id, await decide(await this.#useOf(session, id)));
        // One at a time, so that it is known which call has changed a file.
        await this.waitForResult(session, id);
      }
    });
  }

  /** Archives a session, which leaves no process behind. */
  async end(session: string): Promise<void> {
    await this.server.client.beta.sessions.archive(session);
    expect(findProcesses(this.server.directory)).toEqual([]);
  }

  async waitForAsks(session: string, count: number): Promise<{ readonly id: string; readonly use: string }[]> {
    const ids = await vi.waitUntil(async () => {
      const { frames } = await this.server.log(session);
      const last = frames.findLast(({ type }) => type.startsWith('session.status_'));
      const stop = last?.type === 'session.status_idle' ? last.payload.stop_reason : undefined;
      return stop?.type === 'requires_action' && stop.event_ids.length === count ? stop.event_ids : false;
    }, WAIT);
    return await Promise.all(ids.map(async (id) => ({ id, use: await this.#useOf(session, id) })));
  }

  /** The call has a result. */
  async waitForResult(session: string, id: string): Promise<void> {
    await this.#waitFor(session, ({ type, payload }) => type === 'agent.tool_result' && payload.tool_use_id === id);
  }

  /** A turn of the thread has ended. */
  async waitForEnd(session: string, id: string): Promise<void> {
    await this.#waitFor(session, ({ type, threadId }) => type === 'turn.ended' && threadId === id);
  }

  /** What readers have seen grow, which thread changed which file, the one call that was denied, and totals that add up. */
  async expectWork(session: string, members: readonly Member[], frames: readonly SessionFrame[]): Promise<void> {
    const threads = await this.threads(session);
    const grown = members.map(({ name }) => grownOf(frames, threads.get(name)!.id));
    expect(grown).toEqual(members.map(({ name }) => `${name} begins.${name} reports.${name} remembers.`));
    const changes = frames.flatMap(({ type, payload, threadId }) =>
      type === 'workspace.changed' ? payload.files.map(({ path }) => `${path} ${threadId}`) : [],
    );
    const writers = members.filter(({ name }) => name !== 'codex');
    expect(changes.toSorted()).toEqual(writers.map(({ name }) => `${name}.txt ${threads.get(name)!.id}`));
    const denied = frames.filter(({ type, payload }) => type === 'agent.tool_result' && payload.is_error);
    expect(denied).toMatchObject([
      { threadId: threads.get('codex')!.id, payload: { content: [{ text: 'Not now.' }] } },
    ]);
    const { usage } = await this.server.client.beta.sessions.retrieve(session);
    const sum = (key: 'input_tokens' | 'output_tokens') =>
      [...threads.values()].reduce((total, thread) => total + (thread.usage?.[key] ?? 0), 0);
    expect([sum('input_tokens'), sum('output_tokens')]).toEqual([usage.input_tokens, usage.output_tokens]);
    const names = ['coordinator', ...members.map(({ name }) => name)];
    const silent = names.filter((name) => (threads.get(name)?.usage?.output_tokens ?? 0) === 0);
    expect(silent).toEqual([]);
  }

  async #useOf(session: string, id: string): Promise<string> {
    return JSON.stringify(await this.#waitFor(session, ({ payload }) => 'id' in payload && payload.id === id));
  }

  async #waitFor(session: string, isIt: IsFrame): Promise<SessionFrame> {
    const find = async () => (await this.server.log(session)).frames.find(isIt) ?? false;
    return await vi.waitUntil(find, WAIT);
  }
}

type IsFrame = (frame: SessionFrame) => boolean;

/** A coordinator that gives each member a task, and asks each what it remembers when a person says so. */
function coordinate(members: readonly Member[], { custom } = sessionTools): string {
  const delegate = (text: string) => custom('delegate', { tasks: members.map((member) => toTask(member, text)) });
  const ask = ({ name: agent }: Member) => {
    const thread = `{{find:"name":"${agent}".*?"thread_id":"(sthr_\\w+)"}}`;
    return custom('send_to_agent', { agent, message: 'Remember.', thread_id: thread });
  };
  return scriptByWords({
    'Begin for long': [delegate('Task two.')],
    Begin: [delegate('Task one.')],
    'Ask again': [custom('list_agents', {})],
    '"agents":': members.map(ask),
    '.*': [{ say: 'Noted.' }],
  });
}

/** How a coordinator on a model names the tools of the session. */
const sessionTools: Pick<ProgramWords, 'custom'> = { custom: (name, input) => ({ call: name, input }) };

/** The texts of the messages of a thread. */
function textsOf(frames: readonly SessionFrame[], wanted: 'agent.thread_message_sent', id: string): string[] {
  return frames.flatMap(({ type, threadId, payload }) =>
    type === wanted && threadId === id
      ? [payload.content.map((each) => ('text' in each ? each.text : '')).join('')]
      : [],
  );
}

/** What readers of a thread have seen grow. */
function grownOf(frames: readonly SessionFrame[], id: string): string {
  return frames
    .flatMap(({ type, threadId, payload }) => (type === 'delta.text' && threadId === id ? [payload.text] : []))
    .join('');
}

function toAgent({ name, model }: Member): AgentChoice {
  return { name, model, tools: [toolset('always_ask')] };
}

/** A task with a script that answers every message of the conversation. */
function toTask({ name, words }: Member, text: string) {
  const forever = words.bash(`echo ${name} >> ran; exec tail -f /dev/null`);
  const member = scriptByWords({
    'Task one': [{ say: `${name} begins.` }, words.bash(`echo ${name} > ${name}.txt`)],
    'Task two': [{ say: `${name} begins.` }, forever],
    Remember: [{ expect: { contains: ['Task'] } }, { say: `${name} remembers.` }],
    '.*': [{ say: `${name} reports.` }],
  });
  return { agent: name, message: `${text} ${member}` };
}
