import { expect, it, vi } from 'vitest';
import type { GatewayEvent } from '../../packages/server/src/engines/program/gateway/events.ts';
import { openWay } from '../../packages/server/src/engines/program/gateway/gateway.suite.ts';
import type { Upstream } from '../../packages/server/src/engines/program/gateway/upstream.ts';
import { createScriptedHandler, createScriptedModel } from '../../packages/server/src/engines/model/scripted/index.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { type ProgramLine, startClaudeCode, toScript } from '../support/run-claude-code.ts';

// The real program, the scripted model, and our gateway between them.
await describeWithClaudeCode('the gateway with the real program', ({ path }) => {
  it('[J123] the text of two sub-agents is seen growing, interleaved, and adds up to the lines of the program', async () => {
    const { session, heard } = await openWay(scripted());
    const run = await startClaudeCode({ path, prompt: twoWorkers(), environment: session.environment({}) });
    await run.ended;

    const tasks = run.lines.filter(({ subtype }) => subtype === 'task_started').map((line) => String(line['task_id']));
    expect(tasks).toHaveLength(2);
    expect(new Set(heard.map(({ agentId }) => agentId))).toEqual(new Set([null, ...tasks]));
    const sessionId = run.lines.find(({ subtype }) => subtype === 'init')?.session_id;
    expect(new Set(heard.map((event) => event.sessionId))).toEqual(new Set([sessionId]));

    const growing = heard.filter(({ agentId, event }) => agentId !== null && event.type === 'delta');
    expect(countTurns(growing.map(({ agentId }) => agentId))).toBeGreaterThan(2);
    expect(textsFromGateway(heard)).toEqual(textsFromLines(run.lines));
    expect(heard.filter(({ event }) => event.type === 'failed')).toEqual([]);
  }, 90_000);

  it('[J123] events of an agent started by a sub-agent are emitted too, with its parent', async () => {
    const { session, heard } = await openWay(scripted());
    const deep = toScript({ turns: [[{ say: 'From the deep.', chunks: 3 }]] });
    const agents = JSON.stringify({ deep: { description: 'Goes deep', prompt: `You are deep. ${deep}` } });
    const environment = session.environment({});
    const run = await startClaudeCode({ path, prompt: chain(), environment, args: ['--agents', agents] });
    await run.ended;
    const nested = heard.filter(({ parentAgentId }) => parentAgentId !== null);
    expect(nested.map(({ event }) => (event.type === 'delta' ? event.text : '')).join('')).toBe('From the deep.');
    const parents = new Set(heard.map(({ agentId }) => agentId));
    expect(parents).toContain(nested[0]?.parentAgentId);
  }, 90_000);

  it('[J123] an error of the endpoint is emitted, the program retries, and its turn succeeds', async () => {
    const { session, heard } = await openWay(scripted());
    const prompt = toScript({ turns: [[{ fail: { status: 529, times: 2 } }, { say: 'At last.' }]] });
    const run = await startClaudeCode({ path, prompt, environment: session.environment({}) });
    await run.ended;
    const ends = heard.flatMap(({ event }) => (event.type === 'failed' ? [event.failure] : []));
    expect(ends.map(({ reason, status }) => [reason, status])).toEqual([
      ['refused', 529],
      ['refused', 529],
    ]);
    expect(run.lines.at(-1)).toMatchObject({ type: 'result', is_error: false, result: 'At last.' });
  }, 90_000);

  it('[J123] when the program is killed, its request to the endpoint ends', async () => {
    const { session, heard } = await openWay(scripted());
    const prompt = toScript({ turns: [[{ say: 'A long story.', chunks: 2, every_ms: 120_000 }]] });
    const run = await startClaudeCode({ path, prompt, environment: session.environment({}) });
    await vi.waitFor(() => expect(heard.some(({ event }) => event.type === 'delta')).toBe(true), 60_000);
    run.child.kill('SIGKILL');
    await vi.waitFor(() => {
      expect(heard.at(-1)?.event).toMatchObject({ type: 'failed', failure: { reason: 'aborted' } });
    }, 30_000);
    await run.ended;
  }, 90_000);
});

function scripted(): Upstream {
  return { type: 'handler', handle: createScriptedHandler({ model: createScriptedModel() }) };
}

/** Two agents that talk at the same time, slowly enough that neither is done before the other begins. */
function twoWorkers(): string {
  const worker = (name: string) => {
    const words = Array.from({ length: 12 }, (_, at) => `${name}${at}`).join(' ');
    const command = { call: 'Bash', input: { command: `echo ${name}`, description: 'Says its name' } };
    const first = [{ think: `${name} thinks.` }, { say: words, chunks: 12, every_ms: 150 }, command];
    return toScript({ turns: [first, [{ say: `${name} is done.` }]] });
  };
  const delegate = (name: string) => ({
    call: 'Agent',
    input: { description: name, prompt: worker(name), subagent_type: 'general-purpose', run_in_background: false },
  });
  return toScript({ turns: [[{ say: 'Both.' }, delegate('alpha'), delegate('beta')], [{ say: 'All done.' }]] });
}

function chain(): string {
  const input = { description: 'deep', prompt: 'Go on.', subagent_type: 'deep', run_in_background: false };
  const middle = toScript({ turns: [[{ call: 'Agent', input }], [{ say: 'Middle.' }]] });
  const first = { description: 'm', prompt: middle, subagent_type: 'general-purpose', run_in_background: false };
  return toScript({ turns: [[{ call: 'Agent', input: first }], [{ say: 'Top.' }]] });
}

/** The number of times that other work ran. */
function countTurns(who: readonly unknown[]): number {
  return who.filter((each, at) => at > 0 && each !== who[at - 1]).length;
}

/** By message: what its blocks of text and thought add up to. */
function textsFromGateway(heard: readonly GatewayEvent[]): Map<string, string> {
  const texts = new Map<string, string>();
  const calls = new Set<string>();
  for (const { messageId, event } of heard) {
    if (messageId === null) continue;
    if (event.type === 'block_started' && event.block === 'tool_use') calls.add(`${messageId} ${event.index}`);
    if (event.type !== 'delta' || calls.has(`${messageId} ${event.index}`)) continue;
    texts.set(messageId, `${texts.get(messageId) ?? ''}${event.text}`);
  }
  return texts;
}

function textsFromLines(lines: readonly ProgramLine[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { type, message } of lines) {
    if (type !== 'assistant' || message?.id === undefined || typeof message.content === 'string') continue;
    for (const block of message.content ?? []) {
      const text = block['text'] ?? block['thinking'];
      if (typeof text === 'string') texts.set(message.id, `${texts.get(message.id) ?? ''}${text}`);
    }
  }
  return texts;
}
