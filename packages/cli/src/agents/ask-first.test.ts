import { expect, it } from 'vitest';
import { mustAskFirst, withAskFirst } from './ask-first.ts';
import { parseAgentFile } from './parse-agent-file.ts';

const MODEL = 'claude-code/default';
const ASK = { type: 'always_ask' };

it('[Y140] agents of a program without a sandbox ask before each call, unless their file has a policy', async () => {
  const some = await parseAgentFile('a.md', '---\nname: a\ntools: Bash, Read\n---\nBe.');
  expect(withAskFirst(some, MODEL).tools).toMatchObject([
    {
      default_config: { enabled: false, permission_policy: ASK },
      configs: [
        { name: 'bash', permission_policy: ASK },
        { name: 'read', permission_policy: ASK },
      ],
    },
  ]);
  const all = await parseAgentFile('b.md', '---\nname: b\n---\nBe.');
  expect(withAskFirst(all, MODEL).tools).toMatchObject([{ default_config: { permission_policy: ASK } }]);
  const own = await parseAgentFile(
    'c.yaml',
    'name: c\ntools:\n  - type: agent_toolset_20260401\n    default_config: { permission_policy: { type: always_allow } }',
  );
  expect(withAskFirst(own, MODEL)).toEqual(own);
  expect(withAskFirst(some, 'scripted/echo')).toEqual(some);
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
  expect(await mustAskFirst(api({ is_sandboxed: false }), agents, 'scripted/echo')).toBe(false);
  expect(asked).toEqual([]);
  expect(await mustAskFirst(api({ is_sandboxed: false }), agents, MODEL)).toBe(true);
  expect(await mustAskFirst(api({ is_sandboxed: true }), agents, MODEL)).toBe(false);
  expect(await mustAskFirst(api(new Error('404')), agents, MODEL)).toBe(false);
  expect(asked).toEqual(['/v1/programs/claude-code', '/v1/programs/claude-code', '/v1/programs/claude-code']);
});
