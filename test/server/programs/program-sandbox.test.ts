import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { begin, choose, countProcesses, run, serveNeighbour } from './programs.suite.ts';
import { type TestServer, withServer } from '../server.suite.ts';
import { openGitServer } from '../../../packages/server/src/workspaces/clone/git-server.suite.ts';
import { noSandbox } from '../../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';

vi.setConfig({ testTimeout: 60_000 });

const isLeftOut = noSandbox !== undefined;

const secrets = {
  AWS_ACCESS_KEY_ID: 'canary-aws',
  AWS_SECRET_ACCESS_KEY: 'canary-aws-secret',
  GITHUB_TOKEN: 'canary-github',
  PGPASSWORD: 'canary-pg',
  DATABASE_URL: 'postgres://u:canary-db@h/d',
  ANTHROPIC_API_KEY: 'canary-anthropic',
  ANTHROPIC_AUTH_TOKEN: 'canary-anthropic-token',
  CLAUDE_CODE_OAUTH_TOKEN: 'canary-oauth',
  npm_config_registry: 'https://u:canary-npm@registry',
  NODE_OPTIONS: '--title=canary-node',
  FLEETLOOM_KEY: 'canary-fleetloom',
  HTTPS_PROXY: 'http://u:canary-proxy@127.0.0.1:9',
  SSH_AUTH_SOCK: '/run/canary-ssh',
};

const ofEveryProgram = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TERM|TMPDIR|PWD|OLDPWD|SHLVL|_)$/;
const ofClaudeCode =
  /^(?:CLAUDE_\w+|DISABLE_\w+|MCP_TOOL_TIMEOUT|GIT_CONFIG_\w+|ANTHROPIC_(?:BASE_URL|API_KEY|AUTH_TOKEN)|HTTPS_PROXY|NO_PROXY|FLEETLOOM_PROGRAM)$/i;
const ofTheMachine = /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/;

it.each([...(isLeftOut ? [] : [['in the sandbox', false] as const]), ['without it', true] as const])(
  '[J205] a program %s has the variables on the list and those that the operator names, and no others',
  async (_, isUnsandboxed) => {
    const environment = { ...process.env, ...secrets, LANG: 'C.UTF-8', TZ: 'Asia/Tokyo', NAMED: 'canary-named' };
    const claudeCode = { ...choose(), environment, isUnsandboxed, passedVariables: ['NAMED'] };
    await withServer(
      async (test) => {
        const id = await begin(test);
        const printed = (await run(test, id, 'env')).trim().split('\n');
        expect(printed.filter((line) => line.includes('canary'))).toEqual(['NAMED=canary-named']);
        expect(printed).toContain('LANG=C.UTF-8');
        expect(printed).toContain('TZ=Asia/Tokyo');
        expect(printed).toContain(`HOME=${join(test.directory, 'program-homes', id)}`);
        const known = [ofEveryProgram, ofClaudeCode, /^NAMED$/, ...(isUnsandboxed ? [ofTheMachine] : [])];
        const names = printed.map((line) => line.split('=')[0] ?? '');
        expect(names.filter((name) => !known.some((pattern) => pattern.test(name)))).toEqual([]);
      },
      { claudeCode },
    );
  },
);

describe.skipIf(isLeftOut)('a program in the sandbox', () => {
  it('[WS196] has the repositories of its session when it starts, and pushes to them and to no others', async () => {
    const host = await openGitServer();
    const url = host.addRepository('team/app', { 'README.md': 'hello' });
    for (const path of ['team/app', 'team/other']) host.allow(path, 'ghp_canary', 'write');
    const limited = { type: 'limited', allowed_hosts: [], allow_mcp_servers: false, allow_package_managers: false };
    const resources = [{ type: 'github_repository' as const, url, authorization_token: 'ghp_canary' }];
    await withServer(
      async (test) => {
        const id = await begin(test, limited, resources);
        const look =
          'cd app && cat README.md && env | grep -c canary; tr "\\0" "\\n" < /proc/$PPID/environ | grep -c canary';
        expect(await run(test, id, look)).toBe('hello0\n0\n');
        const push = 'cd app; echo 1 >> README.md; git commit -qam work; git push -q origin HEAD:topic && echo pushed';
        expect(await run(test, id, push)).toBe('pushed\n');
        expect(host.git('team/app', 'log', '-1', '--format=%s', 'topic')).toBe('work');
        const other = `git ls-remote ${host.origin}/team/other > /dev/null 2>&1 || echo refused`;
        expect(await run(test, id, other)).toBe('refused\n');
        expect(host.requests.filter((each) => !each.includes('/team/app.git/'))).toEqual([]);
      },
      { claudeCode: choose(), gitHosts: [host.origin] },
    );
  });

  it('[J210] sees its workspace, its own directory and its socket, and nothing else of the data directory or of homes', () =>
    withShell(async (test) => {
      const { directory } = test;
      const [one, other] = [await begin(test), await begin(test)];
      await run(test, other, 'echo private > notes.txt; echo private > ~/.claude/notes.txt');
      const own = await run(test, one, 'echo mine > mine.txt; echo mine > ~/mine.txt; cat mine.txt ~/mine.txt');
      expect(own).toBe('mine\nmine\n');
      writeFileSync(join(directory, 'canary.txt'), 'canary');
      const hidden = [
        ...['canary.txt', 'fleetloom.db', 'keys', 'signing-key', 'programs'].map((name) => join(directory, name)),
        join(directory, 'workspaces', other, 'notes.txt'),
        join(directory, 'program-homes', other, '.claude', 'notes.txt'),
        homedir(),
        '/etc/shadow',
        '/etc/ssh',
        '/var/lib',
        '/run/systemd',
        process.cwd(),
      ];
      for (const path of hidden.slice(0, 7)) expect([path, existsSync(path)]).toEqual([path, true]);
      const found = await run(test, one, `ls -d ${hidden.join(' ')} 2> /dev/null; echo end`);
      expect(found).toBe('end\n');
      const listed = await run(test, one, `cd ${directory} && ls -A . workspaces program-homes program-sockets`);
      expect(listed.match(/sesn_\w+/g)).toEqual([one, one]);
      expect(listed.match(/\w+\.sock/g)).toHaveLength(1);
    }));

  it('[J210] writes nowhere else: not to the system, its own program, the Node beside it or the data directory', () =>
    withShell(async (test) => {
      const id = await begin(test);
      const places = ['/usr/x', '/bin/x', '/etc/passwd', '/proc/sys/kernel/hostname', '"$(command -v node)"', '"$1"'];
      const command = `set -- $(tr "\\0" "\\n" < /proc/$PPID/cmdline | grep /claude$)
        for path in ${places.join(' ')}; do (echo x > $path) 2> /dev/null && echo wrote $path; done
        mount -o remount,rw / 2> /dev/null && echo remounted
        (echo x > ${test.directory}/x) 2> /dev/null; (echo x > ${test.directory}/program-sockets/x) 2> /dev/null; echo end`;
      expect(await run(test, id, command)).toBe('end\n');
      expect(readdirSync(test.directory)).not.toContain('x');
      expect(readdirSync(join(test.directory, 'program-sockets'))).not.toContain('x');
    }));

  it('[WS34] works in a worktree with a private git directory, and in a read-only directory without writing', () =>
    withRepository((user) =>
      withServer(
        async (test) => {
          const before = user.fingerprint();
          const on = (mode: string) =>
            begin(test, undefined, [{ type: 'directory', path: user.path, mode }] as never[]);
          const command =
            'echo x > x; git add x; git commit -qm third && git log --format=%s; cat .git; rm -f .git; echo > /workspace/.git; echo end';
          const worktree = await on('worktree');
          const git = join(test.directory, 'workspaces-git', worktree, 'git');
          const printed = (await run(test, worktree, `(${command}) 2> /dev/null`)).trim().split('\n');
          expect(printed).toEqual(['third', 'second', 'first', `gitdir: ${git}`, 'end']);
          const inPlace = await on('in_place');
          const planted =
            'echo evil > .git/hooks/pre-commit; echo evil > /workspace/.git/config; git branch mine; echo end';
          expect(await run(test, inPlace, `(${planted}) 2> /dev/null`)).toBe('end\n');
          await test.client.beta.sessions.delete(inPlace);
          const readOnly = await on('read_only');
          const tried =
            'cat README.md; (echo x > README.md; touch x; echo x > /workspace/x; echo x > .git/HEAD) 2> /dev/null; echo end';
          expect(await run(test, readOnly, tried)).toBe('second\nend\n');
          await expect.poll(() => user.fingerprint(['.git/worktrees', '.git/refs/heads/fleetloom'])).toEqual(before);
        },
        { claudeCode: choose(), allowedDirectories: [user.root] },
      ),
    ));

  it('[J211] reaches no port of this machine, neither itself nor through the gateway', async () => {
    const neighbour = await serveNeighbour();
    await withShell(async (test) => {
      const id = await begin(test);
      const { port } = new URL(test.url);
      const ports = [port, String(neighbour.port), '22', '5432'];
      const hosts = ['127.0.0.1', '[::1]', 'localhost', '0.0.0.0'];
      const addresses = ports.flatMap((each) => hosts.map((host) => `${host}:${each}`));
      const direct = `for at in ${addresses.join(' ')}; do curl -s -m 3 http://$at/ && echo reached $at; done; echo end`;
      expect(await run(test, id, direct)).toBe('end\n');
      const targets = [
        `127.0.0.1:${neighbour.port}`,
        ...[...hosts, '169.254.169.254', '10.0.0.1'].map((host) => `${host}:443`),
      ];
      const proxied = `for at in ${targets.join(' ')}; do
        curl -sS -m 5 --noproxy "" -p -x "$HTTPS_PROXY" https://$at/ 2>&1; done`;
      const refusals = targets.map(() => 'curl: (56) CONNECT tunnel failed, response 403');
      expect((await run(test, id, proxied)).trim().split('\n')).toEqual(refusals);
      expect(neighbour.requests()).toBe(0);
    });
  });

  it('[J211] finds a gateway that takes model requests and nothing else, with the secret of its session', () =>
    withShell(async (test) => {
      const id = await begin(test);
      const status = `curl -s -o /dev/null -w '%{http_code} '`;
      const command = `for path in /v1/models /v1/files /mcp/0 /v1/messages/../files; do
          ${status} --path-as-is $ANTHROPIC_BASE_URL$path; done
        ${status} -X DELETE $ANTHROPIC_BASE_URL/v1/messages
        ${status} http://127.0.0.1:4285/guess/v1/messages -d '{}'
        ${status} --unix-socket ${test.directory}/program-sockets/*.sock http://x/guess/v1/messages -d '{}'
        ${status} $ANTHROPIC_BASE_URL/v1/messages/count_tokens -H 'content-type: application/json' -d '{"model":"scripted/echo","messages":[{"role":"user","content":"x"}]}'`;
      expect((await run(test, id, command)).trim()).toBe('404 404 404 404 405 401 401 200');
    }));

  it('[J211] reaches only hosts that a limited environment allows, and the refusal states it', () =>
    withShell(async (test) => {
      const id = await begin(test, { type: 'limited', allowed_hosts: ['allowed.invalid'] });
      const said = await run(
        test,
        id,
        `for host in allowed.invalid closed.invalid; do curl -s -m 10 -p -x "$HTTPS_PROXY" -o /dev/null https://$host/ -D - | head -1; done
         exec 3<>/dev/tcp/127.0.0.1/4285; echo x >&3; true`,
      );
      expect(said).toMatch(
        /^HTTP\/1\.1 502 allowed\.invalid has no address\s+HTTP\/1\.1 403 closed\.invalid:443 is not allowed/,
      );
    }));

  it('[J212] cannot see or signal processes of the machine, and has no privileges', () =>
    withShell(async (test) => {
      const id = await begin(test);
      const command = `kill -9 ${process.pid} 2> /dev/null && echo killed; ls /proc | grep -c "^[0-9]"; id -u
        grep -E "^Cap" /proc/self/status; grep NoNewPrivs /proc/self/status`;
      const said = await run(test, id, command);
      const [processes, user] = said.split('\n').map(Number);
      expect(said).not.toContain('killed');
      expect(processes).toBeLessThan(12);
      expect(user).toBe(1000);
      expect(said.match(/^Cap\w+:\t0{16}$/gm)).toHaveLength(5);
      expect(said).toMatch(/NoNewPrivs:\t1/);
    }));

  it('[J212] takes everything that it has started with it when its session ends', () =>
    withShell(async (test) => {
      const id = await begin(test);
      const name = `canary-${Math.random()}`;
      await run(test, id, `setsid bash -c 'exec -a ${name} sleep 600' > /dev/null 2>&1 & sleep 0.2; echo begun`);
      expect(countProcesses(name)).toBe(1);
      await test.client.beta.sessions.archive(id);
      expect(countProcesses(name)).toBe(0);
    }));

  it('[J212] that kills its own relay ends its turn with an error, and no other session', () =>
    withShell(async (test) => {
      const [one, other] = [await begin(test), await begin(test)];
      await run(test, other, 'true');
      // The shell's parent is the program, and the program's is the relay.
      const command = `kill -9 $(awk '/^PPid/ { print $2 }' /proc/$PPID/status); sleep 5`;
      await expect(run(test, one, command)).rejects.toThrow(/the program is gone: it was ended by SIGKILL/);
      expect(await run(test, other, 'echo here')).toBe('here\n');
      expect(await run(test, one, 'echo again')).toBe('again\n');
    }));
});

describe('the directory of a program', () => {
  it('[J216] exists as long as its session and is removed with it, at the next start if the server was not running', () =>
    withShell(async (test) => {
      const [kept, deleted] = [await begin(test), await begin(test)];
      for (const id of [kept, deleted]) await run(test, id, 'echo kept > ~/notes.txt');
      await test.client.beta.sessions.delete(deleted);
      const homes = join(test.directory, 'program-homes');
      await vi.waitFor(() => expect(readdirSync(homes)).toEqual([kept]), 20_000);
      mkdirSync(join(homes, 'sesn_gone'));
      const again = await test.restart();
      await vi.waitFor(() => expect(readdirSync(homes)).toEqual([kept]), 20_000);
      expect(await run(again, kept, 'cat ~/notes.txt')).toBe('kept\n');
    }));
});

function withShell(body: (test: TestServer) => Promise<void>): Promise<void> {
  return withServer(body, { claudeCode: choose() });
}
