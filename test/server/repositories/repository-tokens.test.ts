import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { noSandbox } from '../../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { openGitServer, runGit } from '../../../packages/server/src/workspaces/clone/git-server.suite.ts';
import { follow, openBashSession } from './repositories.suite.ts';
import {
  findInFiles,
  findInMemory,
  findInObjects,
  findInProcesses,
  findInText,
  observeMachine,
  toForms,
} from './token-search.suite.ts';
import { withServer } from '../server.suite.ts';

vi.setConfig({ testTimeout: 120_000 });

const TOKENS = ['ghp_canaryOne0123456789', 'ghp_canaryTwo0123456789', 'ghp_canaryBad0123456789'] as const;
const [FIRST, SECOND, BAD] = TOKENS;

const FORMS = toForms(TOKENS);

describe.skipIf(noSandbox !== undefined)('the token of a repository', () => {
  it('[WS189, WS703] is in no answer, event, log, problem, database page, file, git object, argument, environment or memory of a process that the server starts', async () => {
    const machine = observeMachine();
    const host = await openGitServer();
    const url = host.addRepository('team/app', { 'README.md': 'hello' });
    host.allow('team/app', FIRST, 'write');
    host.addRepository('team/secret', { a: 'a' });
    host.allow('team/secret', BAD, 'forbidden');
    const logged: string[] = [];
    const found: string[] = [];
    const answers: unknown[] = [];
    const programs = new Set<string>();
    let scans = 0;
    await withServer(
      async (test) => {
        // While git is waiting for the host.
        host.onRequest = async ({ url: path = '' }) => {
          scans++;
          found.push(...findInProcesses(FORMS), ...findInFiles(machine.directory, FORMS));
          // What a core file would have, at a clone and at a push: it is some 100 MB each time.
          if (scans > 3 && !path.endsWith('receive-pack')) return;
          const memory = findInMemory(FORMS);
          found.push(...memory.found);
          memory.programs.forEach((program) => void programs.add(program));
        };
        const { client } = test;
        const look =
          'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /etc/gitconfig app/.git/config | tr "\\0" "\\n"; env; grep -rs canary /workspace /home /tmp /etc /fleetloom; ls -la /fleetloom';
        const { id, session, next, errors } = await openBashSession(
          client,
          [
            { type: 'github_repository', url, authorization_token: FIRST },
            { type: 'github_repository', url: `${host.origin}/team/secret`, authorization_token: BAD },
            { type: 'github_repository', url, authorization_token: BAD, mount_path: '/workspace/bad' },
          ],
          [
            look,
            'cd app && echo 1 > b && git add b && git commit -qm b && GIT_CURL_VERBOSE=1 GIT_TRACE=1 git push origin HEAD:b 2>&1',
            look,
          ],
        );
        answers.push(session, await next(), await next());
        expect(host.git('team/app', 'rev-parse', 'b')).toMatch(/^[0-9a-f]{40}$/);
        host.allow('team/app', SECOND, 'write');
        const { id: resourceId } = session.resources[0] as { id: string };
        const { sessions } = client.beta;
        answers.push(await sessions.resources.update(resourceId, { session_id: id, authorization_token: SECOND }));
        answers.push(
          await next(),
          await errors(),
          await sessions.retrieve(id),
          await sessions.resources.retrieve(resourceId, { session_id: id }),
        );
        for await (const event of sessions.events.list(id)) answers.push(event);
        for await (const resource of sessions.resources.list(id)) answers.push(resource);
        for await (const each of sessions.list()) answers.push(each);
        answers.push(await client.get(`/v1/sessions/${id}/export`).catch(String));
        const forked = await client.post<{ id: string }>(`/v1/sessions/${id}/fork`, { body: {} });
        answers.push(forked);
        const refused = { resources: [{ type: 'github_repository', url: `${url}.git`, authorization_token: FIRST }] };
        answers.push(
          await client
            .post('/v1/sessions', {
              body: { agent: session.agent.id, environment_id: session.environment_id, ...refused },
            })
            .catch(String),
        );
        answers.push(
          await client
            .post(`/v1/sessions/${id}/resources/${resourceId}`, { body: { authorization_token: `${FIRST} x` } })
            .catch(String),
        );
        found.push(
          ...findInFiles(machine.directory, FORMS),
          ...findInObjects(test.directory, FORMS),
          ...findInText(JSON.stringify(answers), FORMS, 'an answer'),
        );
        const later = await test.restart();
        expect(await follow(later.client, id).errors()).toHaveLength(6);
        await later.client.beta.sessions.delete(id);
        found.push(...findInFiles(machine.directory, FORMS));
      },
      {
        gitHosts: [host.origin],
        log: {
          onRequest: (entry) => void logged.push(JSON.stringify(entry)),
          onError: (error) => void logged.push(String(error)),
        },
      },
    );
    expect(scans).toBeGreaterThan(5);
    // The search looked at what it names.
    expect([...programs]).toEqual(expect.arrayContaining(['git', 'git-remote-http']));
    expect(machine.gitCalls()).toEqual(expect.arrayContaining([expect.stringMatching(/\0clone\0/)]));
    expect(logged.length).toBeGreaterThan(5);
    expect([...found, ...findInText(logged.join('\n'), FORMS, 'the log')]).toEqual([]);
  });

  it('[WS703] the search of this test finds a token that is there', async () => {
    const machine = observeMachine();
    expect(findInText(`a ${FORMS[1]} b`, FORMS, 'text')).toEqual(['text']);
    await withServer(async ({ directory }) => {
      writeFileSync(join(directory, 'file'), `x${FIRST}`);
      expect(findInFiles(machine.directory, FORMS)).toEqual([join(directory, 'file')]);
      const repository = join(directory, 'deep/repository.git');
      mkdirSync(repository, { recursive: true });
      runGit(repository, 'init', '--quiet', '--bare');
      runGit(repository, 'hash-object', '-w', join(directory, 'file'));
      expect(findInObjects(directory, FORMS)).toEqual([repository]);
      const child = spawn('sleep', ['20'], { env: { TOKEN: SECOND } });
      await expect.poll(() => findInProcesses(FORMS)).toEqual([`/proc/${child.pid}/environ`]);
      expect(findInMemory(FORMS).found).toEqual([`memory of sleep (${child.pid})`]);
      child.kill();
    });
  });
});
