import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json/json.ts';
import { toolLimits } from '../limits.ts';
import { saveOutput } from '../builtin/files/save-output.ts';
import { WorkspaceFiles } from '../builtin/files/workspace-files.ts';
import { createLimitOutput } from '../limit-output.ts';
import { createLocks } from '../locks.ts';
import { findProgram } from '../find-program.ts';
import type { ToolResult } from '../tool.ts';
import { toToolLimits } from '../tool-limits.ts';
import { call, find, openBench, withoutPrograms } from '../toolbox.suite.ts';

const TOOLSET = { type: 'agent_toolset_20260401' };
const NAMES = ['bash', 'read', 'write', 'edit', 'glob', 'grep', 'web_fetch', 'web_search'];

describe('the offer', () => {
  it('[U1] the built-in toolset has eight tools, allowed and switched on, of which six work on files', async () => {
    const { toolbox } = openBench();
    const { tools, problems } = await toolbox.offer({ tools: [TOOLSET], mcp_servers: [] });
    expect(problems).toEqual([]);
    expect([...tools.keys()]).toEqual(NAMES);
    for (const [name, tool] of tools) {
      expect(tool).toMatchObject({
        kind: 'builtin',
        name,
        permission: 'allow',
        isEnabled: true,
        isSandboxed: !name.startsWith('web_'),
      });
      expect(tool.description.length).toBeGreaterThan(10);
      expect(tool.inputSchema).toMatchObject({ type: 'object', properties: expect.any(Object) });
      expect(JSON.stringify(tool.inputSchema)).not.toMatch(/\$schema|anyOf|null/);
    }
  });

  it('[U1] the inputs are the documented ones', async () => {
    const { toolbox } = openBench();
    const { tools } = await toolbox.offer({ tools: [TOOLSET], mcp_servers: [] });
    const inputs = [...tools].map(([name, { inputSchema }]) => {
      const properties = Object.keys(inputSchema['properties'] ?? {});
      const required = inputSchema['required'];
      const isRequired = (each: string): boolean => Array.isArray(required) && required.includes(each);
      return [name, ...properties.map((each) => (isRequired(each) ? each : `${each}?`))].join(' ');
    });
    expect(inputs).toEqual([
      'bash command? restart? timeout_ms?',
      'read file_path view_range?',
      'write file_path content',
      'edit file_path old_string new_string replace_all?',
      'glob pattern path?',
      'grep pattern path?',
      'web_fetch url',
      'web_search query',
    ]);
  });

  it('[U3] the entry of a tool wins over default_config, and that over the built-in default', async () => {
    const { toolbox } = openBench();
    const said = async (toolset: JsonObject, name: string): Promise<string> => {
      const tool = await find(toolbox, [{ ...TOOLSET, ...toolset }], name);
      return `${tool.isEnabled ? 'on' : 'off'} ${tool.kind === 'builtin' ? tool.permission : ''}`;
    };
    const [ask, allow] = [{ type: 'always_ask' }, { type: 'always_allow' }];
    expect(await said({}, 'bash')).toBe('on allow');
    expect(await said({ default_config: { permission_policy: ask } }, 'bash')).toBe('on ask');
    expect(await said({ default_config: { enabled: false } }, 'bash')).toBe('off allow');
    expect(await said({ default_config: { enabled: false }, configs: [{ name: 'bash', enabled: true }] }, 'bash')).toBe(
      'on allow',
    );
    expect(await said({ default_config: { enabled: false }, configs: [{ name: 'bash', enabled: true }] }, 'read')).toBe(
      'off allow',
    );
    const configs = [{ name: 'bash', type: 'bash', permission_policy: allow }];
    expect(await said({ default_config: { permission_policy: ask }, configs }, 'bash')).toBe('on allow');
    expect(await said({ default_config: { permission_policy: ask }, configs }, 'read')).toBe('on ask');
    expect(
      await said({ default_config: null, configs: [{ name: 'bash', enabled: null, permission_policy: null }] }, 'bash'),
    ).toBe('on allow');
  });

  it('[U4] the policy auto, and every unknown one, needs approval', async () => {
    const { toolbox } = openBench();
    for (const type of ['auto', 'something_newer']) {
      const tool = await find(toolbox, [{ ...TOOLSET, default_config: { permission_policy: { type } } }], 'bash');
      expect(tool).toMatchObject({ permission: 'ask' });
    }
  });

  it('[U5] custom tools are offered as they are defined, for the client to run', async () => {
    const { toolbox } = openBench();
    const input_schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const custom = { type: 'custom', name: 'weather', description: 'Says how the weather is', input_schema };
    const { tools } = await toolbox.offer({ tools: [custom, TOOLSET], mcp_servers: [] });
    expect([...tools.keys()]).toEqual(['weather', ...NAMES]);
    expect(tools.get('weather')).toEqual({
      kind: 'custom',
      name: 'weather',
      description: 'Says how the weather is',
      inputSchema: input_schema,
      isEnabled: true,
    });
  });

  it('[U5] of two tools with the same name the first counts, and kinds that are not known are left out', async () => {
    const { toolbox } = openBench();
    const custom = { type: 'custom', name: 'bash', description: '', input_schema: {} };
    const [first, second] = await Promise.all([
      toolbox.offer({ tools: [custom, TOOLSET], mcp_servers: [] }),
      toolbox.offer({ tools: [TOOLSET, custom, { type: 'agent_toolset_20990101' }], mcp_servers: [] }),
    ]);
    expect([first.tools.get('bash')?.kind, second.tools.get('bash')?.kind]).toEqual(['custom', 'builtin']);
    expect([first.tools.size, second.tools.size]).toEqual([8, 8]);
    expect(await toolbox.offer({ tools: [], mcp_servers: [] })).toEqual({ tools: new Map(), problems: [] });
  });
});

describe('running a tool', () => {
  it('[U6] nothing runs once it is interrupted or closed', async () => {
    const { toolbox, workspace } = openBench();
    for (const name of NAMES) {
      const tool = await find(toolbox, [TOOLSET], name);
      const stopped = await call(tool, {}, { workspace, signal: AbortSignal.abort() });
      expect(stopped).toEqual({
        content: [{ type: 'text', text: `${name}: interrupted before it was done` }],
        isError: true,
      });
    }
    const write = await find(toolbox, [TOOLSET], 'write');
    await toolbox.close();
    const closed = await call(write, { file_path: 'a', content: '' }, { workspace });
    expect(closed).toEqual({ content: [{ type: 'text', text: 'write: the session is closed' }], isError: true });
    expect(readdirSync(workspace)).toEqual([]);
  });

  it('[U2] input that is not an object, or missing, is an error with words and never a rejection', async () => {
    const { toolbox, workspace } = openBench();
    for (const name of NAMES) {
      const tool = await find(toolbox, [TOOLSET], name);
      for (const input of [null, 3, 'text', [], {}]) {
        const { content, isError } = await call(tool, input, { workspace });
        expect([name, isError]).toEqual([name, true]);
        expect(content).toEqual([{ type: 'text', text: expect.stringMatching(new RegExp(`^${name}: `)) }]);
      }
    }
  });

  it('[U6] a tool that is switched off does not run', async () => {
    const { run, workspace } = openBench();
    const off = await run('write', { file_path: 'a', content: '' }, { config: { enabled: false } });
    expect(off).toMatchObject({ text: 'write: this tool is switched off', isError: true });
    expect(readdirSync(workspace)).toEqual([]);
  });

  it('[U2] fields that a tool does not know are not looked at', async () => {
    const { run, put } = openBench();
    put('a', 'content');
    expect((await run('read', { file_path: 'a', description: 'to see', view_range: null })).text).toBe('content');
  });

  it('[U2] a fault of the machine is an error result too', async () => {
    const { toolbox } = openBench();
    const tool = await find(toolbox, [TOOLSET], 'read');
    const gone = await call(tool, { file_path: 'a' }, { workspace: '/nonexistent/workspace' });
    expect(gone).toMatchObject({ isError: true });
    const broken = openBench({
      findProgram: async () => {
        throw new Error('the disk is on fire');
      },
    });
    expect((await broken.run('grep', { pattern: 'x' })).text).toBe(
      'grep failed because of an internal error, not because of its input: the disk is on fire',
    );
  });
});

describe('long output', () => {
  it('[U7] text over 100,000 characters goes to a file, and the model gets its beginning, its end and the path', async () => {
    const clock = createManualClock(1_234);
    const { run, put, workspace } = openBench({ clock });
    const line = `${'x'.repeat(99)}\n`;
    put('most', line.repeat(1_000));
    put('more', `begin${line.repeat(1_000)}end`);
    expect(toolLimits.toolTextCharsMax).toBe(100_000);
    expect((await run('read', { file_path: 'most' })).text).toBe(line.repeat(1_000));
    const { text, isError } = await run('read', { file_path: 'more' });
    expect(isError).toBe(false);
    expect(text).toContain('The output has 100008 characters. It was written to .fleetloom/outputs/read-1234.txt');
    expect(text).toContain('begin');
    expect(text.endsWith('x\nend')).toBe(true);
    expect(text).toContain('[… 92008 characters …]');
    expect(text.length).toBeLessThan(toolLimits.toolPreviewChars + 300);
    expect(readFileSync(join(workspace, '.fleetloom/outputs/read-1234.txt'), 'utf8')).toBe(
      `begin${line.repeat(1_000)}end`,
    );
    expect(readFileSync(join(workspace, '.fleetloom/outputs/.gitignore'), 'utf8')).toBe('*\n');
    expect((await run('read', { file_path: 'more' })).text).toContain('.fleetloom/outputs/read-1234-1.txt');
    expect((await run('read', { file_path: '.fleetloom/outputs/read-1234.txt', view_range: [1_001, 0] })).text).toBe(
      'end',
    );
  });

  it('[U7] it is so for every tool and for errors', async () => {
    const { run } = openBench({
      allowUnsandboxedBash: true,
      findProgram: withoutPrograms('bwrap'),
      limits: {
        toolTextCharsMax: 50,
        toolPreviewChars: 20,
      },
    });
    const { text, isError } = await run('bash', { command: 'seq 1 100; exit_with() { return 3; }; exit_with' });
    expect(isError).toBe(true);
    expect(text).toContain('.fleetloom/outputs/bash-');
    expect(text).toContain('Exit code 3'.slice(-10));
  });

  it('[U8] where no file can be written the beginning and the end are given anyway', async () => {
    const { run, put, workspace, outside } = openBench({ limits: { toolTextCharsMax: 50, toolPreviewChars: 20 } });
    symlinkSync(outside, join(workspace, '.fleetloom'));
    put('file', 'x'.repeat(51));
    const { text, isError } = await run('read', { file_path: 'file' });
    expect(isError).toBe(false);
    expect(text).toContain(
      'The output has 51 characters, and could not be written to a file (.fleetloom/outputs/.gitignore is outside',
    );
    expect(text).toContain('[… 31 characters …]');
    expect(readdirSync(outside)).toEqual([]);
  });

  it('[U9] several texts become one file, and images stay', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'abcd' } } as const;
    const { content } = await keep({
      content: [{ type: 'text', text: 'a'.repeat(30) }, image, { type: 'text', text: 'b'.repeat(30) }],
      isError: false,
    });
    expect(content).toEqual([{ type: 'text', text: expect.stringContaining('has 61 characters') }, image]);
  });

  it('[U9] an image that is too large is left out, with words', async () => {
    const image = (chars: number) =>
      ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'x'.repeat(chars) } }) as const;
    const { content } = await keep(
      { content: [image(10), image(11)], isError: false },
      { toolImageCharsMax: 10, toolTextCharsMax: 100 },
    );
    expect(content).toEqual([
      image(10),
      { type: 'text', text: '(left out: image of 11 characters in base64, too large)' },
    ]);
    expect(toolLimits.toolImageCharsMax).toBe(5_242_880);
  });

  it('[U9] text is such that every store and model takes it, and is not cut within a character', async () => {
    const said = async (text: string): Promise<string> => {
      const [block] = (await keep({ content: [{ type: 'text', text }], isError: false })).content;
      return block?.type === 'text' ? block.text : '';
    };
    expect(await said('')).toBe('(empty)');
    expect(await said('a\0b\ud800c\udc00👩')).toBe('a\ufffdb\ufffdc\ufffd👩');
    const cut = await said(`x${'👩'.repeat(40)}y`);
    expect(cut).not.toMatch(/\p{Surrogate}/u);
    expect(cut).toContain('x👩👩👩👩\n\n[… 64 characters …]\n\n👩👩👩👩y');
  });

  async function keep(result: ToolResult, changed = {}): Promise<ToolResult> {
    const { workspace } = openBench();
    const files = new WorkspaceFiles({ locks: createLocks(), linksMax: 40 });
    const some = toToolLimits({ toolTextCharsMax: 50, toolPreviewChars: 20, ...changed });
    const { signal } = new AbortController();
    const context = { sessionId: 'sesn_1', threadId: 'sthr_1', openWorkspace: async () => workspace, signal };
    const keep = async (name: string, text: string) => await saveOutput(files, workspace, name, text);
    return await createLimitOutput({ keep, clock: createManualClock(), limits: some })('tool', result, context);
  }
});

describe('programs', () => {
  it('[U26] are found in the directories of PATH, and only those that are absolute', async () => {
    const { put, workspace } = openBench();
    mkdirSync(join(workspace, 'directory/program'), { recursive: true });
    put('plain/program', '');
    chmodSync(put('bin/program', ''), 0o755);
    const path = [
      'relative',
      '',
      `${workspace}/none`,
      `${workspace}/directory`,
      `${workspace}/plain`,
      `${workspace}/bin`,
    ].join(':');
    expect(await findProgram('program', path)).toBe(join(workspace, 'bin/program'));
    expect(await findProgram('program', `${workspace}/plain:.`)).toBe(undefined);
  });
});
