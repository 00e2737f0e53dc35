import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { withRepository } from '../../packages/server/src/workspaces/repository.suite.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { bash, textsOf, withClaudeServer } from './claude-server.ts';

await describeWithClaudeCode('the real program in a worktree', ({ path }) => {
  it(
    '[WS350] works in the worktree of its session: its edits land there, each attributed to its tool call, and the working tree of the user keeps every byte',
    { timeout: 120_000 },
    () =>
      withRepository(async (user) => {
        const allowed = { allowedDirectories: [user.root] };
        await withClaudeServer(
          path,
          async (server) => {
            const before = user.fingerprint(['.git/worktrees', '.git/refs/heads/fleetloom']);
            const resources = [{ type: 'directory', path: user.path }];
            const session = await server.createSession({}, { resources });
            const workspace = join(server.directory, 'workspaces', session);
            const file = (name: string) => join(workspace, name);
            const turns = script(
              [{ call: 'Write', input: { file_path: file('new.txt'), content: 'new\n' } }],
              [{ call: 'Read', input: { file_path: file('README.md') } }],
              [{ call: 'Edit', input: { file_path: file('README.md'), old_string: 'second', new_string: 'edited' } }],
              [bash('git branch --show-current > branch.txt; rm src/main.ts')],
              [{ say: 'Done.' }],
            );
            const events = await server.run(session, `Go. ${turns}`);
            expect(textsOf(events)).toEqual(['Done.']);
            const { frames, problems } = await server.log(session);
            expect(problems).toEqual([]);
            const calls = new Map(
              frames.flatMap(({ type, payload }) =>
                type === 'agent.tool_use' ? [[payload.id, payload.name] as const] : [],
              ),
            );
            const changes = frames.flatMap(({ type, payload }) => {
              if (type !== 'workspace.changed') return [];
              const files = payload.files.map((each) => `${each.status} ${each.path}`);
              return [[calls.get(payload.tool_use_id ?? ''), ...files]];
            });
            expect(changes).toEqual([
              ['Write', 'added new.txt'],
              ['Edit', 'modified README.md'],
              ['Bash', 'added branch.txt', 'deleted src/main.ts'],
            ]);
            expect(readFileSync(file('README.md'), 'utf8')).toBe('edited\n');
            expect(readFileSync(file('branch.txt'), 'utf8')).toMatch(/^fleetloom\//);
            expect(existsSync(join(user.path, 'new.txt'))).toBe(false);
            expect(user.fingerprint(['.git/worktrees', '.git/refs/heads/fleetloom'])).toEqual(before);
          },
          allowed,
        );
      }),
  );

  it(
    '[WS351] loads the CLAUDE.md of the project with `claude_code.settings: project`, from the worktree',
    () =>
      withRepository(async (user) => {
        await user.write('CLAUDE.md', 'The secret word is xylophone.\n');
        user.git('add', '--all');
        user.git('commit', '--quiet', '--message=instructions');
        const allowed = { allowedDirectories: [user.root] };
        await withClaudeServer(
          path,
          async (server) => {
            const more = {
              resources: [{ type: 'directory', path: user.path }],
              metadata: { 'claude_code.settings': 'project' },
            };
            const session = await server.createSession({}, more);
            const steps = script([{ expect: { contains: ['The secret word is xylophone.'] } }, { say: 'Loaded.' }]);
            expect(textsOf(await server.run(session, `Go. ${steps}`))).toEqual(['Loaded.']);
            const { frames } = await server.log(session);
            const loaded = frames.find(({ type }) => type === 'program.settings')!;
            const workspace = join(server.directory, 'workspaces', session);
            expect(loaded.payload).toMatchObject({ settings: 'project', instructions: [join(workspace, 'CLAUDE.md')] });
          },
          allowed,
        );
      }),
    120_000,
  );
});
