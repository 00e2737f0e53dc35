import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import { chooseCoordinator } from './choose-coordinator.ts';
import { parseAgentFile } from './parse-agent-file.ts';
import { readAgents } from './read-agents.ts';

const root = mkdtempSync(join(tmpdir(), 'fleetloom-agents-'));
afterAll(() => rmSync(root, { recursive: true }));

let count = 0;
function directoryOf(files: Record<string, string>): string {
  const directory = join(root, String((count += 1)));
  mkdirSync(directory);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

const toolset = (configs: object[]) => [
  { type: 'agent_toolset_20260401', default_config: { enabled: false }, configs },
];

describe('definitions of agents', () => {
  it('[Y9] Markdown with front matter is read as Claude Code reads it', async () => {
    const text =
      '---\nname: reviewer\ndescription: Reviews code\ntools: Read, Grep\nmodel: sonnet\ncolor: red\n---\n\nYou review.\n\n---\nMore.\n';
    expect(await parseAgentFile('any.md', text)).toEqual({
      file: 'any.md',
      name: 'reviewer',
      description: 'Reviews code',
      system: 'You review.\n\n---\nMore.',
      model: 'claude-sonnet-5-5',
      tools: toolset([
        { name: 'read', enabled: true },
        { name: 'grep', enabled: true },
      ]),
      roster: null,
      others: {},
      notes: [],
    });
  });

  it('[Y9] front matter that is not valid YAML is read line by line', async () => {
    const text =
      '\ufeff---\r\nname: r\r\ndescription: Use it when: the user asks. <example>Context: x</example>\r\n  and goes on\r\ncoordinator: true\r\n---\r\nBody: here';
    const agent = await parseAgentFile('r.md', text);
    expect(agent).toMatchObject({
      name: 'r',
      description: 'Use it when: the user asks. <example>Context: x</example>\nand goes on',
      roster: 'all',
      system: 'Body: here',
    });
  });

  it('[Y9] YAML and JSON have the fields of the API, with names in the roster', async () => {
    const yaml = 'name: lead\nmodel: { id: m, speed: fast }\nsystem: Lead.\nagents: [a, b]\nmetadata: { team: x }\n';
    expect(await parseAgentFile('lead.yaml', yaml)).toMatchObject({
      name: 'lead',
      model: { id: 'm', speed: 'fast' },
      system: 'Lead.',
      roster: ['a', 'b'],
      others: { metadata: { team: 'x' } },
      tools: [],
    });
    for (const multiagent of [
      { type: 'coordinator', agents: ['a', { name: 'b' }] },
      { type: 'multiagent_20261001', subagents: { type: 'enabled', predefined_agents: ['a', 'b'] } },
    ]) {
      expect(await parseAgentFile('x.json', JSON.stringify({ multiagent }))).toMatchObject({
        name: 'x',
        roster: ['a', 'b'],
      });
    }
  });

  it('[Y9] without a model or with "inherit" it takes the run’s, and short names mean the newest', async () => {
    const modelOf = async (model: string) => (await parseAgentFile('x.yaml', `name: x\n${model}`)).model;
    expect(await modelOf('')).toBe(null);
    expect(await modelOf('model: inherit')).toBe(null);
    expect(await modelOf('model: opus')).toBe('claude-opus-5-5');
    expect(await modelOf('model: haiku')).toBe('claude-haiku-5-5');
    expect(await modelOf('model: scripted/echo')).toBe('scripted/echo');
  });

  it('[Y9] ignored fields are reported, and an unreadable definition is rejected with its path', async () => {
    const { notes } = await parseAgentFile('x.md', '---\nname: x\nhooks: 1\ntools: Read, TodoWrite, Task\n---\n');
    expect(notes).toEqual(['the tool "TodoWrite" does not exist and is ignored', 'the field "hooks" is ignored']);
    const refused: [string, string, string][] = [
      ['x.md', 'no front matter', 'x.md has no front matter.'],
      ['x.json', '{"name":', 'x.json cannot be read: '],
      ['x.yaml', 'a: [1', 'x.yaml cannot be read: '],
      ['x.yaml', '- a', 'x.yaml is not an agent definition.'],
      ['x.yaml', 'name: [a]', 'x.yaml: "name" is not a text.'],
      ['x.yaml', 'agents: 1', 'x.yaml: "agents" is not a list of names.'],
      ['x.yaml', 'model: 1', 'x.yaml: "model" is not the name of a model.'],
      ['x.yaml', 'tools: 1', 'x.yaml: "tools" is not a list of tools.'],
    ];
    for (const [file, text, message] of refused) {
      const error = await parseAgentFile(file, text).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining(message) });
    }
  });

  it('[Y10] tools are known by the names of Claude Code and by our own; without any, Markdown has all of them', async () => {
    const toolsOf = async (text: string) => (await parseAgentFile('x.md', `---\nname: x\n${text}\n---\n`)).tools;
    expect(await toolsOf('')).toEqual([{ type: 'agent_toolset_20260401', configs: [] }]);
    expect(await toolsOf('tools: "*"')).toEqual([{ type: 'agent_toolset_20260401', configs: [] }]);
    expect(await toolsOf('tools: [Bash, web_fetch, Edit, MultiEdit]')).toEqual(
      toolset([
        { name: 'bash', enabled: true },
        { name: 'web_fetch', enabled: true },
        { name: 'edit', enabled: true },
      ]),
    );
    expect(await toolsOf('disallowedTools: Bash, Write(/etc/*)')).toEqual([
      {
        type: 'agent_toolset_20260401',
        configs: [
          { name: 'bash', enabled: false },
          { name: 'write', permission_policy: { type: 'always_ask' } },
        ],
      },
    ]);
    expect(await toolsOf('tools: Read, Bash\ndisallowedTools: Bash')).toEqual(
      toolset([{ name: 'read', enabled: true }]),
    );
    expect(await toolsOf('tools: Task')).toEqual([]);
  });

  it('[Y10] a tool that is allowed for some inputs only is asked for', async () => {
    const { tools } = await parseAgentFile('x.md', '---\nname: x\ntools: Bash(git diff:*, git log:*), Read(*)\n---\n');
    expect(tools).toEqual(
      toolset([
        { name: 'bash', enabled: true, permission_policy: { type: 'always_ask' } },
        { name: 'read', enabled: true },
      ]),
    );
  });

  it('[Y9] all files of a directory and its sub-directories are read, in the order of their names', async () => {
    const directory = directoryOf({
      'b.md': '---\nname: b\n---\n',
      'a.yaml': 'name: a',
      'sub/c.json': '{"name":"c"}',
      'README.md': 'not one',
      'notes.txt': 'nor this',
    });
    expect((await readAgents(directory)).map(({ file, name }) => [file, name])).toEqual([
      ['a.yaml', 'a'],
      ['b.md', 'b'],
      [join('sub', 'c.json'), 'c'],
    ]);
  });

  it('[Y9] an empty or missing directory and two agents of one name are refused', async () => {
    for (const [directory, message] of [
      [directoryOf({}), 'There are no definitions of agents'],
      [join(root, 'none'), 'There is no directory'],
      [directoryOf({ 'a.yaml': 'name: x', 'b.yaml': 'name: x' }), 'a.yaml and b.yaml both define the agent "x".'],
    ] as const) {
      const error = await readAgents(directory).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining(message) });
    }
  });

  it('[Y9] a directory has at most 500 of them', async () => {
    const files = Object.fromEntries(
      Array.from({ length: limits.agentFilesMax }, (_, index) => [`${index}.yaml`, `name: a${index}`]),
    );
    const directory = directoryOf(files);
    expect(await readAgents(directory)).toHaveLength(500);
    writeFileSync(join(directory, 'more.yaml'), 'name: more');
    await expect(readAgents(directory)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('501 agent definitions'),
    });
  });

  it('[Y12] the task goes to who was named, else to the one that coordinates, else to the only one', async () => {
    const of = async (files: Record<string, string>) => await readAgents(directoryOf(files));
    const one = await of({ 'a.yaml': 'name: a' });
    const led = await of({ 'a.yaml': 'name: a', 'b.yaml': 'name: b\ncoordinator: true' });
    expect(chooseCoordinator(one, undefined).name).toBe('a');
    expect(chooseCoordinator(led, undefined).name).toBe('b');
    expect(chooseCoordinator(led, 'a').name).toBe('a');
    const unclear = await of({ 'a.yaml': 'name: a', 'b.yaml': 'name: b' });
    const rivals = await of({ 'a.yaml': 'name: a\nagents: [b]', 'b.yaml': 'name: b\ncoordinator: true' });
    expect(() => chooseCoordinator(unclear, undefined)).toThrow('No agent of the directory is a coordinator.');
    expect(() => chooseCoordinator(rivals, undefined)).toThrow('More than one agent is a coordinator.');
    expect(() => chooseCoordinator(led, 'c')).toThrow('There is no agent "c" in the directory.');
  });
});
