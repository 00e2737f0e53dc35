// A small agent that speaks version 1 of the Agent Client Protocol over stdin and stdout, for tests. It runs bash commands after a
// permission request, and talks to the Messages API at ANTHROPIC_BASE_URL. FLEETLOOM_ACP changes it: `ends_at_denial`, `no_load`.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const traits = (process.env.FLEETLOOM_ACP ?? '').split(',');
const folder = join(process.env.HOME, 'conversations');
const sessions = new Map();
const asked = new Map();
let nextId = 0;

const methods = {
  initialize: () => ({
    protocolVersion: 1,
    agentInfo: { name: 'test agent', version: '1.0.0' },
    agentCapabilities: { loadSession: !traits.includes('no_load'), promptCapabilities: {}, mcpCapabilities: {} },
    authMethods: [],
  }),
  'session/new': ({ cwd }) => {
    const sessionId = randomUUID();
    sessions.set(sessionId, { sessionId, cwd, model: OWN_MODEL, messages: [] });
    return { sessionId, configOptions: toOptions(OWN_MODEL) };
  },
  'session/load': ({ sessionId, cwd }) => {
    const session = JSON.parse(readFileSync(join(folder, `${sessionId}.json`), 'utf8'));
    sessions.set(sessionId, { ...session, cwd });
    for (const { role, content } of session.messages) {
      const sessionUpdate = role === 'user' ? 'user_message_chunk' : 'agent_message_chunk';
      for (const { text } of content) if (text !== undefined) update(session, { sessionUpdate, content: toText(text) });
    }
    return { configOptions: toOptions(session.model) };
  },
  'session/set_config_option': ({ sessionId, value }) => {
    sessions.get(sessionId).model = value;
    return { configOptions: toOptions(value) };
  },
  'session/prompt': ({ sessionId, prompt }) => run(sessions.get(sessionId), prompt),
};

const OWN_MODEL = 'scripted/default';
const toOptions = (currentValue) => [{ id: 'model', category: 'model', type: 'select', currentValue, options: [] }];
const toText = (text) => ({ type: 'text', text });

createInterface({ input: process.stdin })
  .on('line', (line) => void take(JSON.parse(line)))
  .on('close', end);
process.on('SIGTERM', end);

async function take({ id, method, params, result }) {
  if (method === undefined) return asked.get(id)?.(result);
  if (method === 'session/cancel') return sessions.get(params.sessionId)?.stop?.abort();
  try {
    const answer = await methods[method](params);
    send({ id, result: answer });
  } catch (error) {
    send({ id, error: { code: -32_603, message: `Internal error: ${error.message}` } });
  }
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function update({ sessionId }, content) {
  send({ method: 'session/update', params: { sessionId, update: content } });
}

/** One turn: requests to the model until one has no calls. */
async function run(session, prompt) {
  session.stop = new AbortController();
  session.messages.push({ role: 'user', content: prompt.map(({ text }) => toText(text)) });
  let outputTokens = 0;
  try {
    for (;;) {
      const answer = await request(session);
      outputTokens += answer.outputTokens;
      session.messages.push({ role: 'assistant', content: answer.content });
      const usage = { inputTokens: 1, outputTokens, totalTokens: 1 + outputTokens };
      if (answer.stop === 'refusal' || answer.stop === 'max_tokens') return { stopReason: answer.stop, usage };
      const calls = answer.content.filter(({ type }) => type === 'tool_use');
      if (calls.length === 0) return { stopReason: 'end_turn', usage };
      const results = [];
      session.messages.push({ role: 'user', content: results });
      for (const call of calls) results.push(await callTool(session, call));
      if (session.stop.signal.aborted) return { stopReason: 'cancelled', usage };
      if (traits.includes('ends_at_denial') && results.some(({ content }) => content === DENIED))
        return { stopReason: 'end_turn', usage };
    }
  } catch (error) {
    if (session.stop.signal.aborted) return { stopReason: 'cancelled' };
    throw error;
  } finally {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${session.sessionId}.json`), JSON.stringify(session));
  }
}

const DENIED = 'The call was denied.';

async function request(session, attempt = 1) {
  const tools = [{ name: 'bash', description: 'Runs a command', input_schema: { type: 'object' } }];
  const { messages, model } = session;
  const response = await fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': process.env.ANTHROPIC_API_KEY ?? '' },
    body: JSON.stringify({ model, messages, tools, max_tokens: 10_000, stream: true }),
    signal: session.stop.signal,
  });
  if (response.status >= 500 && attempt === 1) return request(session, 2);
  if (!response.ok) throw new Error(JSON.parse(await response.text()).error.message);
  return await readAnswer(session, response.body);
}

async function readAnswer(session, body) {
  const answer = { content: [], stop: null, outputTokens: 0, isWhole: false };
  const messageId = randomUUID();
  let text = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const events = (text + piece).split('\n\n');
    text = events.pop();
    for (const event of events) takeEvent(JSON.parse(/^data: (.*)$/m.exec(event)[1]));
  }
  if (!answer.isWhole) throw new Error('The answer was cut off.');
  return answer;

  function takeEvent({ type, index, content_block: block, delta, usage, error }) {
    if (type === 'error') throw new Error(error.message);
    if (type === 'content_block_start')
      answer.content[index] = { ...block, ...(block.type === 'tool_use' ? { json: '' } : {}) };
    const grown = answer.content[index];
    if (type === 'content_block_delta') grow(grown, index, delta);
    if (type === 'content_block_stop' && grown.type === 'tool_use') {
      grown.input = JSON.parse(grown.json || '{}');
      delete grown.json;
    }
    if (type === 'message_delta') [answer.stop, answer.outputTokens] = [delta.stop_reason, usage.output_tokens];
    if (type === 'message_stop') answer.isWhole = true;
  }

  function grow(grown, index, { type, text: said, thinking, partial_json: json, signature }) {
    const about = { messageId: `${messageId}-${index}` };
    if (type === 'text_delta')
      update(session, { sessionUpdate: 'agent_message_chunk', ...about, content: toText(said) });
    if (type === 'thinking_delta')
      update(session, { sessionUpdate: 'agent_thought_chunk', ...about, content: toText(thinking) });
    if (said !== undefined) grown.text += said;
    if (thinking !== undefined) grown.thinking += thinking;
    if (signature !== undefined) grown.signature = signature;
    if (json !== undefined) grown.json += json;
  }
}

async function callTool(session, { id: toolCallId, name, input }) {
  const call = { toolCallId, title: input.command ?? name, kind: 'execute', rawInput: input };
  const { sessionId, stop } = session;
  // The input follows with the request, as it does in other agents.
  update(session, { sessionUpdate: 'tool_call', ...call, rawInput: {}, status: 'pending' });
  const options = [
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ];
  const { outcome } = stop.signal.aborted ? {} : await ask({ sessionId, toolCall: call, options });
  const isAllowed = outcome?.optionId === 'yes' && !stop.signal.aborted;
  if (isAllowed) update(session, { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' });
  const { output, code } = isAllowed ? await execute(session, input.command) : { output: DENIED, code: 1 };
  const content = [{ type: 'content', content: toText(output) }];
  update(session, {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: code === 0 ? 'completed' : 'failed',
    content,
  });
  return { type: 'tool_result', tool_use_id: toolCallId, content: output, is_error: code !== 0 };
}

function ask(params) {
  const id = nextId++;
  return new Promise((resolve) => {
    asked.set(id, resolve);
    send({ id, method: 'session/request_permission', params });
  });
}

function execute({ cwd, stop }, command) {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', command], { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
    const kill = () => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL');
    stop.signal.addEventListener('abort', kill, { once: true });
    child.on('exit', (code) => {
      stop.signal.removeEventListener('abort', kill);
      resolve({ output, code: code ?? 1 });
    });
  });
}

function end() {
  for (const { stop } of sessions.values()) stop?.abort();
  process.exit(0);
}
