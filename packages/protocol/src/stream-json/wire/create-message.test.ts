import { readdirSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMessage, type JsonRpcResponse } from './create-message.ts';
import type { StreamJsonMessage, WireBlock } from './messages.ts';

describe('createMessage', () => {
  it('[M1] writes one line of JSON whatever is in it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.oneof(fc.constantFrom('\n', '\r', '\u2028', '\ud800'), fc.string()) }),
        (text) => {
          const lines = [
            createMessage.user(text),
            createMessage.user([{ type: 'text', text }]),
            createMessage.deny('r', { message: text }),
            createMessage.allow('r', { updatedInput: { [text]: text } }),
          ];
          for (const line of lines) {
            expect(line.indexOf('\n')).toBe(line.length - 1);
            expect(line).not.toContain('\r');
            expect(read(line)).toBeTypeOf('object');
          }
          expect(read(lines[0]!)).toEqual({ type: 'user', message: { role: 'user', content: text } });
        },
      ),
    );
  });

  it('[M2] writes a prompt as documented, and ids only where they are given', () => {
    expect(createMessage.user('What was my question?')).toBe(
      '{"type":"user","message":{"role":"user","content":"What was my question?"}}\n',
    );
    expect(read(createMessage.user('x', { uuid: 'u-1', sessionId: '' }))).toEqual({
      type: 'user',
      message: { role: 'user', content: 'x' },
      parent_tool_use_id: null,
      session_id: '',
      uuid: 'u-1',
    });
    expect(() => createMessage.user(undefined as unknown as string)).toThrow(/string or an array/);
  });

  it('[M3] takes request ids from the caller, else counts them through', () => {
    const { interrupt, mcpStatus, initialize, setModel } = createMessage;
    const ids = [interrupt(), mcpStatus(), initialize()].map((line) => String(read(line).request_id));
    const first = Number(ids[0]?.replace('fleetloom-', ''));
    expect(ids).toEqual([`fleetloom-${first}`, `fleetloom-${first + 1}`, `fleetloom-${first + 2}`]);
    expect(read(setModel('opus', { requestId: 'mine' })).request_id).toBe('mine');
    expect(read(interrupt()).request_id).toBe(`fleetloom-${first + 3}`);
    expect(() => interrupt({ requestId: '' })).toThrow(TypeError);
  });

  it('[M4] can write every line that the recorded sessions were fed with', () => {
    const lines = recordedLines();
    expect(lines.length).toBe(339);
    const exceptions: Record<string, number> = {};
    for (const { file, line } of lines) {
      const reason = EXCEPTIONS.find(({ matches }) => matches(file, line))?.reason;
      if (reason !== undefined) exceptions[reason] = (exceptions[reason] ?? 0) + 1;
      else expect(read(rebuild(read(line))), `${file}: ${line}`).toEqual(read(line));
    }
    expect(exceptions).toEqual({ garbage: 4, 'parent alone': 2, 'addressed to a sub-agent': 2 });
  });

  it('[M5] refuses an answer that the program would refuse', () => {
    // Casts, because callers in JavaScript do this.
    const allow = createMessage.allow as (id: string, fields: object) => string;
    const deny = createMessage.deny as (id: string, fields?: object) => string;
    expect(() => (allow as (id: string) => string)('r')).toThrow(TypeError);
    expect(() => allow('r', {})).toThrow(/updatedInput must be/);
    expect(() => allow('r', { updatedInput: 'ls' })).toThrow(/updatedInput must be/);
    expect(() => deny('r')).toThrow(/message is missing/);
    expect(() => deny('r', {})).toThrow(/message is missing/);
    expect(read(createMessage.deny('r', { message: '' }))).toMatchObject({ response: { response: { message: '' } } });
  });

  it('[M6] approves and denies the call of a permission_request event', () => {
    const asked = { requestId: 'r1', input: { command: 'ls' } };
    expect(read(createMessage.approve(asked))).toEqual({
      type: 'control_response',
      response: {
        subtype: 'success',
        request_id: 'r1',
        response: { behavior: 'allow', updatedInput: { command: 'ls' } },
      },
    });
    expect(createMessage.approve(asked, { updatedInput: { command: 'pwd' } })).toBe(
      createMessage.allow('r1', { updatedInput: { command: 'pwd' } }),
    );
    expect(createMessage.deny(asked, { message: 'no', interrupt: true })).toBe(
      createMessage.deny('r1', { message: 'no', interrupt: true }),
    );
  });

  it('[M6] approves every recorded request that was allowed unchanged, byte for byte in meaning', () => {
    const requests = recordedRequests();
    let compared = 0;
    for (const { line } of recordedLines().filter(({ line }) => line.includes('"allow"'))) {
      const answer = read(line) as unknown as Answer;
      const request = requests.get(answer.response.request_id);
      const { updatedInput, updatedPermissions } = answer.response.response;
      if (request === undefined || JSON.stringify(request.input) !== JSON.stringify(updatedInput)) continue;
      const asked = { requestId: answer.response.request_id, input: request.input };
      expect(read(createMessage.approve(asked, updatedPermissions ? { updatedPermissions } : {}))).toEqual(answer);
      compared++;
    }
    expect(compared).toBeGreaterThan(10);
  });

  it('[M6] refuses the id of a tool call, which the program would ignore, and names what to pass', () => {
    const approve = createMessage.approve as (id: unknown) => string;
    const deny = createMessage.deny as (id: unknown, fields?: object) => string;
    expect(() => approve('toolu_abc123')).toThrow(TypeError);
    expect(() => approve('toolu_abc123')).toThrow(/pass the permission_request event/);
    expect(() => approve({ requestId: 'toolu_abc123', input: {} })).toThrow(/not the id of a tool call/);
    expect(() => deny('toolu_abc123', { message: 'no' })).toThrow(/pass the permission_request event/);
    expect(() => deny('toolu_abc123')).toThrow(TypeError);
    expect(() => deny({}, { message: 'no' })).toThrow(/pass the permission_request event/);
    expect(() => createMessage.answerError('toolu_abc123', 'no')).toThrow(TypeError);
  });

  it('[M7] gives the result of a tool of the host, and refuses to pretend one for a tool of the program', () => {
    const call = {
      type: 'control_request',
      request_id: 'r2',
      request: { subtype: 'mcp_message', message: { jsonrpc: '2.0', id: 4, method: 'tools/call', params: {} } },
    };
    expect(read(createMessage.toolResult(call, 'found', { isError: true }))).toEqual(
      read(
        createMessage.mcpResponse('r2', {
          jsonrpc: '2.0',
          id: 4,
          result: { content: [{ type: 'text', text: 'found' }], isError: true },
        }),
      ),
    );
    const toolResult = createMessage.toolResult as (call: unknown, content: string) => string;
    expect(() => toolResult('toolu_abc123', 'mocked')).toThrow(/for other tools use deny/);
    expect(() => toolResult({ ...call, request: { subtype: 'can_use_tool' } }, 'mocked')).toThrow(TypeError);
    expect(() => toolResult(undefined, 'mocked')).toThrow(TypeError);
  });

  it('[M8] has the documented abort, which interrupts', () => {
    expect(createMessage.abort({ requestId: 'x' })).toBe(createMessage.interrupt({ requestId: 'x' }));
  });

  it('[M9] passes on fields and requests that it does not know', () => {
    expect(read(createMessage.initialize({ requestId: 'i', someday: [1] })).request).toEqual({
      subtype: 'initialize',
      someday: [1],
    });
    expect(read(createMessage.request('someday', { a: 1 }, { requestId: 'i' })).request).toEqual({
      subtype: 'someday',
      a: 1,
    });
  });

  it('[M10] works with builders that are taken off the object', () => {
    const { user, abort, deny } = createMessage;
    expect([user('x'), abort(), deny('r', { message: 'no' })]).toHaveLength(3);
  });
});

interface Answer {
  response: {
    request_id: string;
    subtype: string;
    error: string;
    response: Record<string, unknown> & { updatedInput: Record<string, unknown>; updatedPermissions?: unknown[] };
  };
}

/** What was written to find out how the programs take it, and what the builders do not offer. */
const EXCEPTIONS = [
  { reason: 'garbage', matches: (file: string, line: string) => file === 'bad-stdin' && !line.includes('"user"') },
  // Null and absent mean the same; the builder writes the pair that the official SDK writes.
  { reason: 'parent alone', matches: (file: string) => file === 'user-image-input' },
  // The programs ignore the address and take it for the main agent, so there is no way to write one.
  { reason: 'addressed to a sub-agent', matches: (_: string, line: string) => line.includes('"parent_tool_use_id":"') },
];

/** The recorded line again, made by the builder that one would use for it. */
function rebuild(recorded: StreamJsonMessage): string {
  if (recorded.type === 'user') {
    const { uuid, session_id: sessionId, message } = recorded;
    const options = { ...(uuid !== undefined && { uuid }), ...(sessionId !== undefined && { sessionId }) };
    return createMessage.user(message!.content as string | WireBlock[], options);
  }
  if (recorded.type === 'keep_alive') return createMessage.keepAlive();
  if (recorded.type === 'control_request') return rebuildRequest(recorded);
  const { request_id: id, subtype, error, response } = (recorded as unknown as Answer).response;
  if (subtype === 'error') return createMessage.answerError(id, error);
  if (response['behavior'] === 'allow') return createMessage.allow(id, response);
  if (response['behavior'] === 'deny') return createMessage.deny(id, response as { message: string } & typeof response);
  if ('mcp_response' in response) return createMessage.mcpResponse(id, response['mcp_response'] as JsonRpcResponse);
  return createMessage.hookResponse(id, response);
}

function rebuildRequest(recorded: StreamJsonMessage): string {
  const requestId = recorded['request_id'] as string;
  const { subtype, ...fields } = recorded['request'] as { subtype: string } & Record<string, string>;
  const by: Record<string, () => string> = {
    initialize: () => createMessage.initialize({ requestId, ...fields }),
    interrupt: () => createMessage.interrupt({ requestId }),
    set_model: () => createMessage.setModel(fields['model']!, { requestId }),
    set_permission_mode: () => createMessage.setPermissionMode(fields['mode']!, { requestId }),
    stop_task: () => createMessage.stopTask(fields['task_id']!, { requestId }),
    background_tasks: () => createMessage.backgroundTasks({ requestId }),
    get_context_usage: () => createMessage.getContextUsage({ requestId }),
    get_session_cost: () => createMessage.getSessionCost({ requestId }),
    mcp_status: () => createMessage.mcpStatus({ requestId }),
  };
  return by[subtype]?.() ?? createMessage.request(subtype, fields, { requestId });
}

const VERSIONS = ['2.1.197', '2.1.325'].map(
  (version) => new URL(`../../../../../fixtures/stream-json/${version}/`, import.meta.url),
);

function recordedLines(): { file: string; line: string }[] {
  return VERSIONS.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.side.json'))
      .flatMap((name) => {
        const side = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { stdin?: { line?: string }[] };
        const lines = (side.stdin ?? []).flatMap(({ line }) => (line === undefined ? [] : [line]));
        return lines.map((line) => ({ file: name.replace('.side.json', ''), line }));
      }),
  );
}

function recordedRequests(): Map<string, { input: unknown }> {
  const requests = new Map<string, { input: unknown }>();
  for (const folder of VERSIONS) {
    for (const name of readdirSync(folder).filter((file) => /^(permission|ask).*\.ndjson$/.test(file))) {
      for (const line of readFileSync(new URL(name, folder), 'utf8').split('\n')) {
        if (!line.includes('"can_use_tool"')) continue;
        const message = read(line);
        requests.set(message['request_id'] as string, message['request'] as { input: unknown });
      }
    }
  }
  return requests;
}

function read(line: string): StreamJsonMessage {
  return JSON.parse(line) as StreamJsonMessage;
}
