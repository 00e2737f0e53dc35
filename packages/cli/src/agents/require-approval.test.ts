import { expect, it } from 'vitest';
import { findUnsandboxedPrograms, withApproval } from './require-approval.ts';
import { parseAgentFile } from './parse-agent-file.ts';

const MODEL = 'claude-code/default';
const UNSANDBOXED = new Set(['claude-code']);
const ASK = { type: 'always_ask' };

it('[Y140] agents of a program without a sandbox need approval for each call, unless their file has a policy', async () => {
  const some = await parseAgentFile('a.md', '---\nname: a\ntools: Bash, Read\n---\nBe.');
  expect(withApproval(some, MODEL, UNSANDBOXED).tools).toMatchObject([
    {
      default_config: { enabled: false, permission_policy: ASK },
      configs: [
        { name: 'bash', permission_policy: ASK },
        { name: 'read', permission_policy: ASK },
      ],
    },
  ]);
  const all = await parseAgentFile('b.md', '---\nname: b\n---\nBe.');
  expect(withApproval(all, MODEL, UNSANDBOXED).tools).toMatchObject([{ default_config: { permission_policy: ASK } }]);
  const own = await parseAgentFile(
    'c.yaml',
    'name: c\ntools:\n  - type: agent_toolset_20260401\n    default_config: { permission_policy: { type: always_allow } }',
  );
  expect(withApproval(own, MODEL, UNSANDBOXED)).toEqual(own);
  expect(withApproval(some, 'scripted/echo', UNSANDBOXED)).toEqual(some);
});

it('[Y140] the server is asked only where an agent has such a model, and one that does not answer changes nothing', async () => {
  const agents = [await parseAgentFile('a.md', '---\nname: a\n---\nBe.')];
  const asked: string[] = [];
  const api = (answer: object | Error) => ({
    get: async <Answer>(path: string): Promise<Answer> => {
      asked.push(path);
      if (answer instanceof Error) throw answer;
      return answer as Answer;
    },
  });
  expect(await findUnsandboxedPrograms(api({ is_sandboxed: false }), agents, 'scripted/echo')).toEqual(new Set());
  expect(asked).toEqual([]);
  expect(await findUnsandboxedPrograms(api({ is_sandboxed: false }), agents, MODEL)).toEqual(UNSANDBOXED);
  expect(await findUnsandboxedPrograms(api({ is_sandboxed: true }), agents, MODEL)).toEqual(new Set());
  expect(await findUnsandboxedPrograms(api(new Error('404')), agents, MODEL)).toEqual(new Set());
  expect(asked).toEqual(['/v1/programs/claude-code', '/v1/programs/claude-code', '/v1/programs/claude-code']);
  expect(await findUnsandboxedPrograms(api({ is_sandboxed: false }), agents, 'codex/default')).toEqual(
    new Set(['codex']),
  );
  expect(asked.at(-1)).toBe('/v1/programs/codex');
});

it('[Y211] the approval of an unsandboxed program does not depend on the name of its engine, and only agents of that program get it', async () => {
  const [mine, other] = await Promise.all([
    parseAgentFile('a.md', '---\nname: a\nmodel: opencode/anthropic/opus\n---\nBe.'),
    parseAgentFile('b.md', '---\nname: b\nmodel: vendor/model\n---\nBe.'),
  ]);
  const api = {
    get: async <Answer>(path: string): Promise<Answer> => {
      // As a server does for a name that is not a program.
      if (path === '/v1/programs/vendor') throw new Error('there is no program vendor');
      return { is_sandboxed: path === '/v1/programs/codex' } as Answer;
    },
  };
  const unsandboxed = await findUnsandboxedPrograms(api, [mine, other], MODEL);
  expect(unsandboxed).toEqual(new Set(['opencode']));
  expect(withApproval(mine, MODEL, unsandboxed).tools).toMatchObject([{ default_config: { permission_policy: ASK } }]);
  expect(withApproval(other, MODEL, unsandboxed)).toEqual(other);
  for (const name of ['opencode', 'registered']) {
    expect(await findUnsandboxedPrograms(api, [], `${name}/default`)).toEqual(new Set([name]));
  }
  expect(await findUnsandboxedPrograms(api, [], 'codex/default')).toEqual(new Set());
});
