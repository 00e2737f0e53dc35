import { watchFleet } from '@fleetloom/client';
import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createScriptedHandler } from '../../packages/server/src/engines/model/scripted/http/handler.ts';
import { createScriptedModel } from '../../packages/server/src/engines/model/scripted/model.ts';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { call } from '../../packages/cli/test-support/live-io.ts';
import { noSandbox } from '../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { describeWithClaudeCode, temporaryHome } from '../support/claude-code.ts';
import {
  bash,
  type ClaudeServer,
  delegate,
  isAtRest,
  textsOf,
  toChoice,
  toolset,
  withClaudeServer,
} from './claude-server.ts';

await describeWithClaudeCode(
  'what sessions of the real program can be configured with, and report',
  ({ path, version }) => {
    it('[J295] each retry of the main agent is one event on its thread: in the log, for clients of the SDK and on the fleet stream', async () => {
      await withClaudeServer(path, async (server) => {
        const session = await server.createSession();
        const prompt = `Go. ${script([{ fail: { status: 529, times: 2 } }, { say: 'At last.' }])}`;
        const { events, fleet } = await runWithFleet(server, session, prompt);
        const errors = events.filter(({ type }) => type === 'session.error');
        expect(errors).toMatchObject([1, 2].map(() => ({ error: retrying('model_overloaded_error') })));
        const retries = fleet.filter((event) => event.type === 'request_retrying');
        const each = {
          depth: 0,
          attempts_max: 11,
          code: 'model_overloaded_error',
          message: expect.stringMatching(/^529 /),
        };
        expect(retries).toMatchObject([2, 3].map((attempt) => ({ ...each, attempt })));
        for (const retry of retries) expect(retry.retry_at).toBeGreaterThan(retry.ts ?? Number.POSITIVE_INFINITY);
        expect(textsOf(events)).toEqual(['At last.']);
        expect((await server.log(session)).problems).toEqual([]);
      });
    }, 120_000);

    for (const isBackground of [false, true]) {
      const where = isBackground ? 'in the background' : 'in the foreground';
      it(`[J296] each retry of a sub-agent ${where} is one event on its own thread`, async () => {
        await withClaudeServer(path, async (server) => {
          const session = await server.createSession({ roster: [{ name: 'worker' }] });
          const child = (name: string, times: number) =>
            script([bash(`echo ${name}`)], [{ fail: { status: 529, times } }, { say: `${name} is done.` }]);
          const calls = [delegate('worker', 'alpha', child('alpha', 2)), delegate('worker', 'beta', child('beta', 1))];
          for (const call of calls as { input: Record<string, unknown> }[])
            call.input['run_in_background'] = isBackground;
          const turns = script(calls, [{ say: 'Done.' }], [{ say: 'Noted.' }], [{ say: 'Noted.' }]);
          const primary = (await server.threads(session))[0]!.id;
          const ended = new Set<string>();
          await server.watch(
            session,
            () => server.say(session, `Go. ${turns}`),
            (event) => {
              if (event.type === 'session.thread_status_idle') ended.add(event.session_thread_id);
              return ended.size === (ended.has(primary) ? 3 : 2) && (isBackground || isAtRest(event));
            },
          );
          const fleet = await readFleet(server, session);
          const { frames, problems } = await server.log(session);
          expect(problems).toEqual([]);
          const texts = new Map(
            frames.flatMap((frame) =>
              frame.type === 'agent.message' ? [[frame.threadId, frame.payload.content[0]?.text]] : [],
            ),
          );
          const retried = frames.flatMap((frame) =>
            frame.type === 'session.error' ? [texts.get(frame.threadId)] : [],
          );
          expect(sorted(retried)).toEqual(['alpha is done.', 'alpha is done.', 'beta is done.']);
          const retries = fleet.flatMap((event) => (event.type === 'request_retrying' ? [event.attempt] : []));
          expect(sorted(retries)).toEqual(['2', '2', '3']);
        });
      }, 120_000);
    }

    it('[J300] a file that an agent has written, edited or changed as a notebook is a `file` event with its content', async () => {
      await withClaudeServer(path, async (server) => {
        const session = await server.createSession();
        const workspace = join(server.directory, 'workspaces', session);
        const at = (name: string) => join(workspace, name);
        const notebook = {
          cells: [{ cell_type: 'code', id: 'one', source: 'x = 1', metadata: {}, outputs: [], execution_count: null }],
          metadata: {},
          nbformat: 4,
          nbformat_minor: 5,
        };
        const steps = script(
          [{ say: 'Ready.' }],
          [{ call: 'Write', input: { file_path: at('a.txt'), content: 'one $& two' } }],
          [{ call: 'Edit', input: { file_path: at('a.txt'), old_string: 'two', new_string: 'three $&' } }],
          [{ call: 'Edit', input: { file_path: at('a.txt'), old_string: 'not there', new_string: 'x' } }],
          [{ call: 'Read', input: { file_path: at('book.ipynb') } }],
          [{ call: 'NotebookEdit', input: { notebook_path: at('book.ipynb'), cell_id: 'one', new_source: 'x = 2' } }],
          [{ say: 'Written.' }],
        );
        await server.run(session, `Go. ${steps}`);
        await writeFile(at('book.ipynb'), JSON.stringify(notebook));
        const { fleet } = await runWithFleet(server, session, 'And now?');
        const files = fleet.filter((event) => event.type === 'file');
        expect(files.map(({ path: file, content }) => [file, content])).toEqual([
          [at('a.txt'), 'one $& two'],
          [at('a.txt'), 'one $& three $&'],
          [at('book.ipynb'), await server.readFile(session, 'book.ipynb')],
        ]);
        expect(await server.readFile(session, 'a.txt')).toBe('one $& three $&');
      });
    }, 120_000);

    it("[J303] sub-agents of the program's own kinds are called what they were started for, and those of the roster by their names", async () => {
      await withClaudeServer(path, async (server) => {
        const session = await server.createSession({ roster: [{ name: 'worker' }] });
        const child = script([{ say: 'Seen.' }]);
        const calls = [
          delegate('general-purpose', 'Read the docs', child),
          delegate('general-purpose', 'Count the tests', child),
          delegate('worker', 'Fix the build', child),
        ];
        const { fleet } = await runWithFleet(server, session, `Go. ${script(calls, [{ say: 'Done.' }])}`);
        const started = fleet.flatMap((event) => (event.type === 'stream_start' && event.depth > 0 ? [event] : []));
        expect(sorted(started.map(({ agent, title }) => `${agent}: ${title}`))).toEqual([
          'general-purpose: Count the tests',
          'general-purpose: Read the docs',
          'worker: undefined',
        ]);
        const threads = await server.threads(session);
        const named = threads.flatMap(({ agent, parent_thread_id: parent }) =>
          parent !== null && 'description' in agent && agent.name === 'general-purpose' ? [agent.description] : [],
        );
        expect(sorted(named)).toEqual(['Count the tests', 'Read the docs']);
      });
    }, 120_000);

    it('[J305] a permission mode that the program does not have is refused when a session is created and when it is changed', async () => {
      await withClaudeServer(path, async (server) => {
        const session = await server.createSession();
        const metadata = (value: string) => ({ metadata: { 'claude_code.permission_mode': value } });
        const refused = {
          status: 400,
          message: expect.stringMatching(/yolo.*default, acceptEdits, plan, dontAsk, auto/),
        };
        await expect(server.client.beta.sessions.update(session, metadata('yolo'))).rejects.toMatchObject(refused);
        await expect(server.client.beta.sessions.update(session, metadata('bypassPermissions'))).rejects.toThrow(/400/);
        const { agent, environment_id } = await server.client.beta.sessions.retrieve(session);
        const create = (value: string) =>
          server.client.beta.sessions.create({ agent: agent.id, environment_id, ...metadata(value) });
        await expect(create('yolo')).rejects.toMatchObject(refused);
        expect((await create('plan')).metadata).toEqual(metadata('plan').metadata);
      });
    }, 120_000);

    it('[J305] in a mode that asks less, what the definition says is `always_ask` is asked for', async () => {
      await withClaudeServer(path, async (server) => {
        const session = await server.createSession({ tools: [toolset('always_ask')] });
        const turn = (name: string) => [[bash(`touch ${name}`)], [{ say: `${name} is done.` }]];
        const prompts = [`Go. ${script(...turn('one'), ...turn('two'))}`, 'And now?'];
        for (const [at, mode] of ['acceptEdits', 'auto'].entries()) {
          await server.client.beta.sessions.update(session, { metadata: { 'claude_code.permission_mode': mode } });
          let asks = 0;
          await server.run(session, prompts[at]!, async (event) => {
            if (event.type !== 'session.status_idle' || event.stop_reason.type !== 'requires_action') return;
            asks += 1;
            const [id] = event.stop_reason.event_ids;
            await server.send(session, { type: 'user.tool_confirmation', tool_use_id: id, result: 'deny' });
          });
          expect([mode, asks]).toEqual([mode, 1]);
        }
        expect(await server.files(session)).toEqual([]);
      });
    }, 120_000);

    it('[J306] `claude_code.depth` sets how deep agents delegate, where the version can be limited; any other depth is refused', async () => {
      await withClaudeServer(path, async (server) => {
        const deep = { name: 'deep', system: `You are deep. ${script([{ say: 'From the deep.' }])}` };
        const call = (agent: string) => ({
          call: 'Agent',
          input: { subagent_type: agent, description: agent, prompt: 'Go deeper.', run_in_background: false },
        });
        const middle = {
          name: 'middle',
          system: `You are middle. ${script([call('deep')], [{ say: 'From the middle.' }])}`,
        };
        const session = await server.createSession({ roster: [middle, deep] });
        const setDepth = (depth: string) =>
          server.client.beta.sessions.update(session, { metadata: { 'claude_code.depth': depth } });
        const tooDeep = version === '2.1.197' ? '6' : '4';
        for (const depth of [tooDeep, '0', 'two', ...(version === '2.1.197' ? ['1'] : [])]) {
          await expect(setDepth(depth)).rejects.toMatchObject({
            status: 400,
            message: expect.stringMatching(/claude_code\.depth/),
          });
        }
        await setDepth(version === '2.1.197' ? '5' : '2');
        await server.run(session, `Go. ${script([call('middle')], [{ say: 'Done.' }])}`);
        const { frames } = await server.log(session);
        const created = frames.flatMap((frame) => (frame.type === 'session.thread_created' ? [frame.payload] : []));
        expect(created.map(({ agent_name: name, depth }) => `${name} ${depth}`)).toEqual(['middle 1', 'deep 2']);
      });
    }, 120_000);

    it('[J310] with `claude_code.settings: project` the program loads CLAUDE.md, agents, skills and hooks of the workspace, and the log states it before the first model request', async () => {
      await withClaudeServer(path, async (server) => {
        const session = await server.createSession();
        await writeProject(server, session);
        await server.client.beta.sessions.update(session, { metadata: { 'claude_code.settings': 'project' } });
        const steps = script([{ expect: { contains: ['The secret word is xylophone.'] } }, { say: 'Loaded.' }]);
        const { events, fleet } = await runWithFleet(server, session, `Go. ${steps}`);
        expect(textsOf(events)).toEqual(['Loaded.']);
        expect(await server.files(session)).toContain('hooked.txt');
        const { frames, problems } = await server.log(session);
        expect(problems).toEqual([]);
        const loaded = frames.find(({ type }) => type === 'program.settings')!;
        expect(loaded.payload).toMatchObject({
          settings: 'project',
          instructions: [expect.stringMatching(/CLAUDE\.md$/)],
          hooks: [expect.stringMatching(/^UserPromptSubmit: touch /)],
          agents: ['reviewer'],
          skills: ['sums'],
          rules: ['allow Bash(*)'],
        });
        const request = frames.find(({ type }) => type === 'span.model_request_start')!;
        expect(loaded.seq).toBeLessThan(request.seq);
        expect(fleet.filter(({ type }) => type === 'settings_loaded')).toMatchObject([
          { settings: 'project', depth: 0 },
        ]);
      });
    }, 120_000);

    it('[J311] without `claude_code.settings` the program loads nothing of the workspace', async () => {
      await withClaudeServer(path, async (server) => {
        const session = await server.createSession();
        await writeProject(server, session);
        const { events } = await runWithFleet(server, session, `Go. ${script([{ say: 'Here.' }])}`);
        expect(textsOf(events)).toEqual(['Here.']);
        expect(await server.files(session)).not.toContain('hooked.txt');
        const { frames } = await server.log(session);
        expect(frames.filter(({ type }) => type === 'program.settings')).toEqual([]);
      });
    }, 120_000);

    it('[J312] a tool that the definition sets to `always_ask` needs approval whatever the settings of the project allow, by rules, modes or hooks', async () => {
      await withClaudeServer(path, async (server) => {
        const session = await server.createSession({ tools: [toolset('always_ask')] });
        await writeProject(server, session, {
          permissions: { allow: ['Bash', 'Bash(*)', 'Write'], defaultMode: 'acceptEdits' },
          sandbox: { enabled: true, autoAllowBashIfSandboxed: true },
          hooks: { PreToolUse: toHook(ALLOW), PermissionRequest: toHook(GRANT) },
          // Commands that the program would run for its own ends.
          apiKeyHelper: 'touch helped; echo key',
          awsAuthRefresh: 'touch helped',
          otelHeadersHelper: 'touch helped',
        });
        await server.client.beta.sessions.update(session, { metadata: { 'claude_code.settings': 'project' } });
        const asked: string[] = [];
        const steps = script(
          [bash('touch bashed')],
          [
            {
              call: 'Write',
              input: { file_path: join(server.directory, 'workspaces', session, 'written'), content: 'x' },
            },
          ],
          [delegate('reviewer', 'Review it', script([bash('touch delegated')], [{ say: 'Reviewed.' }]))],
          [{ say: 'Done.' }],
        );
        await server.run(session, `Go. ${steps}`, async (event) => {
          if (event.type !== 'agent.tool_use' || event.evaluated_permission !== 'ask') return;
          asked.push(event.name);
          await server.send(session, { type: 'user.tool_confirmation', tool_use_id: event.id, result: 'deny' });
        });
        expect(asked).toEqual(['Bash', 'Write', 'Bash']);
        expect(await server.files(session)).toEqual(['CLAUDE.md']);
      });
    }, 120_000);

    it('[J313] `claude_code.settings: user` is refused in the sandbox, and without one it loads the settings of the operator too', async () => {
      const user = { metadata: { 'claude_code.settings': 'user' } };
      const choice = await toChoice(path);
      if (choice.isUnsandboxed !== true) {
        await withClaudeServer(path, async (server) => {
          const session = await server.createSession();
          await expect(server.client.beta.sessions.update(session, user)).rejects.toMatchObject({
            status: 400,
            message: expect.stringMatching(/claude_code\.settings.*sandbox.*none, project/),
          });
        });
      }
      const home = choice.environment?.['HOME'] ?? '';
      await mkdir(join(home, '.claude'), { recursive: true });
      await writeFile(join(home, '.claude', 'CLAUDE.md'), 'The operator likes marmalade.');
      // Variables of the operator must not lead the program past the gateway.
      const settings = { env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_API_KEY: 'mine' } };
      await writeFile(join(home, '.claude', 'settings.json'), JSON.stringify(settings));
      const options = { claudeCode: { ...choice, isUnsandboxed: true } };
      await withClaudeServer(
        path,
        async (server) => {
          const session = await server.createSession();
          await server.client.beta.sessions.update(session, user);
          const steps = script([{ expect: { contains: ['The operator likes marmalade.'] } }, { say: 'Loaded.' }]);
          expect(textsOf(await server.run(session, `Go. ${steps}`))).toEqual(['Loaded.']);
        },
        options,
      );
    }, 120_000);

    it.each(noSandbox === undefined ? [true, false] : [true])(
      '[J399] an agent of `.claude/agents` asks before it runs a command where programs have no sandbox (%s), and only there',
      async (isUnsandboxed) => {
        const directory = join(await temporaryHome(), 'agents');
        await mkdir(directory, { recursive: true });
        await writeFile(join(directory, 'helper.md'), '---\nname: helper\ndescription: Helps.\n---\nYou help.\n');
        const claudeCode = { ...(await toChoice(path)), isUnsandboxed };
        await withClaudeServer(
          path,
          async (server) => {
            const env = { FLEETLOOM_URL: server.url, FLEETLOOM_KEY: server.key };
            const applied = await call(['agents', 'apply', directory, '--model', 'claude-code/default', '--json'], {
              env,
            });
            const { id: agent } = JSON.parse(applied.stdout) as { id: string };
            const { id: environment_id } = await server.client.beta.environments.create({
              name: 'here',
              config: { type: 'cloud' },
            });
            const { id: session } = await server.client.beta.sessions.create({ agent, environment_id });
            const steps = script([bash('touch done')], [{ say: 'Done.' }]);
            const stopped = await server.watch(
              session,
              () => server.say(session, `Go. ${steps}`),
              (event) => event.type === 'session.status_idle',
            );
            const expected = isUnsandboxed ? 'requires_action' : 'end_turn';
            expect(stopped.at(-1)).toMatchObject({ stop_reason: { type: expected } });
            expect(await server.files(session)).toEqual(isUnsandboxed ? [] : ['done']);
          },
          { claudeCode },
        );
      },
      120_000,
    );

    it("[J398] with the operator's login and without a sandbox, too, and `--model-base-url` has precedence", async () => {
      const choice = await toChoice(path);
      const [named, inherited] = [await serveScripted(), await serveScripted()];
      const environment = {
        ...choice.environment,
        ANTHROPIC_BASE_URL: inherited.url,
        CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-mine',
      };
      const login = { ...choice, environment, usesOwnLogin: true, isUnsandboxed: true };
      const cases = [
        [login, inherited],
        [{ ...login, loginBaseURL: named.url }, named],
      ] as const;
      for (const [claudeCode, expected] of cases) {
        await withClaudeServer(
          path,
          async (server) => {
            const session = await server.createSession();
            const events = await server.run(session, `Go. ${script([{ say: 'From there.' }])}`);
            expect(textsOf(events)).toEqual(['From there.']);
          },
          { claudeCode },
        );
        expect(expected.authorizations.splice(0)).toContain('Bearer sk-ant-oat01-mine');
        expect([named.authorizations, inherited.authorizations]).toEqual([[], []]);
      }
    }, 120_000);

    it("[J316] with the operator's login the model requests go to the base URL of the operator", async () => {
      const choice = await toChoice(path);
      const upstream = await serveScripted();
      const environment = {
        ...choice.environment,
        ANTHROPIC_BASE_URL: upstream.url,
        CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-mine',
      };
      await withClaudeServer(
        path,
        async (server) => {
          const session = await server.createSession();
          expect(textsOf(await server.run(session, `Go. ${script([{ say: 'From there.' }])}`))).toEqual([
            'From there.',
          ]);
          expect(upstream.authorizations).toContain('Bearer sk-ant-oat01-mine');
        },
        { claudeCode: { ...choice, environment, usesOwnLogin: true } },
      );
    }, 120_000);
  },
);

/** An endpoint of its own, with the scripted model. */
async function serveScripted() {
  const handle = createScriptedHandler({ model: createScriptedModel() });
  const authorizations: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, authorizations };
}

/** A hook for every tool that prints this. */
function toHook(output: string): object[] {
  return [{ matcher: '*', hooks: [{ type: 'command', command: `echo '${output}'` }] }];
}

const GRANT = JSON.stringify({
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
});

const ALLOW = JSON.stringify({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', permissionDecisionReason: 'mine' },
});

function sorted(items: readonly unknown[]): string[] {
  return items.map(String).toSorted();
}

function retrying(type: string): object {
  return { type, retry_status: { type: 'retrying' } };
}

/** Runs a prompt, and reads the fleet stream of the session. */
async function runWithFleet(server: ClaudeServer, session: string, prompt: string) {
  const events = await server.run(session, prompt);
  return { events, fleet: await readFleet(server, session) };
}

/** Everything that the fleet stream of the session has so far. */
async function readFleet({ url, key }: ClaudeServer, session: string): Promise<FleetEvent[]> {
  const fleet: FleetEvent[] = [];
  for await (const event of watchFleet({ url, key, session, follow: false })) fleet.push(event);
  return fleet;
}

/** A project with a CLAUDE.md, an agent, a skill, and a hook that leaves a file behind. */
async function writeProject(server: ClaudeServer, session: string, settings?: object): Promise<void> {
  const workspace = join(server.directory, 'workspaces', session);
  const put = async (name: string, text: string) => {
    await mkdir(dirname(join(workspace, name)), { recursive: true });
    await writeFile(join(workspace, name), text);
  };
  const hook = { hooks: [{ type: 'command', command: `touch ${join(workspace, 'hooked.txt')}` }] };
  await put('CLAUDE.md', 'The secret word is xylophone.');
  await put(
    '.claude/agents/reviewer.md',
    '---\nname: reviewer\ndescription: Reviews.\npermissionMode: bypassPermissions\n---\nYou review.',
  );
  await put('.claude/skills/sums/SKILL.md', '---\nname: sums\ndescription: Adds numbers.\n---\nAdd them.');
  const usual = { permissions: { allow: ['Bash(*)'] }, hooks: { UserPromptSubmit: [hook] } };
  await put('.claude/settings.json', JSON.stringify(settings ?? usual));
}
