import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import type { InputBlock } from '../../../base/content.ts';
import { JsonRpc, type RpcAnswer } from '../lines/json-rpc.ts';
import type { Fields } from '../lines/json-rpc-line.ts';
import { record, records, text } from '../lines/values.ts';
import { type Decision, MAIN, type ProgramEvent } from '../program.ts';
import { toCallPolicy } from './approvals/call-policy.ts';
import { CANCELLED } from './approvals/to-outcome.ts';
import { toPrompt } from './launch/to-prompt.ts';
import { AcpTranslator } from './translate/acp-translator.ts';
import { toTurnOutcome } from './translate/to-turn-outcome.ts';

/** Options of one conversation with an ACP agent. */
export interface AcpConversationOptions {
  readonly agent: AgentSnapshot;
  readonly directory: string;
  /** The conversation to continue; null: a new one. */
  readonly resume: string | null;
  /** The model of the definition; null: the agent chooses. */
  readonly model: string | null;
  readonly mcpServers: readonly { readonly name: string; readonly url: string }[];
  /** Receives whole lines for the agent. */
  readonly write: (line: string) => void;
  readonly emit: (events: readonly ProgramEvent[]) => void;
  /** The conversation cannot be begun. */
  readonly onFailure: (reason: string) => void;
}

/** A conversation with an agent that speaks version 1 of the Agent Client Protocol: prompts out, updates and permission requests in. */
export class AcpConversation {
  readonly #options: AcpConversationOptions;
  readonly #rpc: JsonRpc;
  readonly #translator: AcpTranslator;
  /** Empty until the conversation is open. */
  #sessionId = '';
  #agent: Fields = {};
  /** Said, and not sent. */
  #said: (readonly InputBlock[])[] = [];
  /** Said before an interrupt: it is sent with the next message. */
  #kept: InputBlock[] = [];
  #isTurn = false;
  #isStopping = false;
  #isStopWanted = false;
  #isClosed = false;
  /** How the agent takes another model, and the one that it has now. */
  #models: ModelChoice = { type: 'none', current: '' };
  #ownModel = '';
  /** What the agent said after it has reported an error as a state. */
  #failure: string | null = null;
  #isNew = true;

  constructor(options: AcpConversationOptions) {
    this.#options = options;
    this.#rpc = new JsonRpc(options.write, { jsonrpc: '2.0' });
    this.#translator = new AcpTranslator({
      policy: toCallPolicy(options.agent),
      isClosed: () => this.#isClosed,
      model: () => this.#models.current,
      answer: (id, result) => this.#rpc.answer(id, result),
    });
  }

  get isResting(): boolean {
    return !this.#isTurn;
  }

  begin(): void {
    const clientInfo = { name: 'fleetloom', title: 'Fleetloom', version: '0.0.0' };
    const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
    this.#rpc.request('initialize', { protocolVersion: 1, clientCapabilities, clientInfo }, (answer) => {
      if (answer.type === 'refused') return this.#options.onFailure(`it refused to start: ${answer.message}`);
      const { protocolVersion: version } = answer.result;
      if (version !== 1) {
        const which = typeof version === 'number' ? `version ${version}` : 'another version';
        return this.#options.onFailure(`it speaks ${which} of ACP, and version 1 is needed`);
      }
      this.#agent = answer.result;
      this.#open();
    });
  }

  /** An object that the agent wrote. */
  take(message: Fields): void {
    const line = this.#rpc.take(message);
    if (line === null) return;
    const { method, params } = line;
    if (line.type === 'notification') return method === 'session/update' ? this.#update(params) : undefined;
    if (method !== 'session/request_permission') return this.#rpc.reject(line.id, `There is no ${method} here.`);
    if (!this.#isTurn || this.#isStopping) return this.#rpc.answer(line.id, CANCELLED);
    this.#options.emit(this.#translator.ask(line.id, params));
  }

  say(content: readonly InputBlock[]): void {
    this.#said.push(content);
    this.#prompt();
  }

  interrupt(): void {
    if (!this.#isTurn) {
      this.#isStopWanted = this.#said.length > 0;
      return;
    }
    if (this.#isStopping) return;
    this.#isStopping = true;
    // What was said during the turn is stopped with it, and not lost.
    this.#kept.push(...this.#said.splice(0).flat());
    this.#options.emit(this.#translator.withdraw());
    this.#rpc.notify('session/cancel', { sessionId: this.#sessionId });
  }

  setClosed(isClosed: boolean): void {
    this.#isClosed = isClosed;
  }

  /** Another model, from the next turn on. One that the agent does not have changes nothing. */
  setModel(model: string | null): void {
    this.#sendModel(model ?? this.#ownModel, () => {});
  }

  answer(callId: string, decision: Decision): void {
    this.#options.emit(this.#translator.give(callId, decision));
    if (decision.type === 'deny' && decision.isInterrupting === true) {
      this.#translator.takeDenials();
      this.interrupt();
    }
  }

  /** The agent is gone. */
  close(): void {
    this.#rpc.close();
  }

  #open(): void {
    const { resume, directory: cwd, onFailure } = this.#options;
    const capabilities = record(this.#agent['agentCapabilities']) ?? {};
    const hasMcp = record(capabilities['mcpCapabilities'])?.['http'] === true;
    const mcpServers = hasMcp
      ? this.#options.mcpServers.map(({ name, url }) => ({ type: 'http', name, url, headers: [] }))
      : [];
    const place = { cwd, mcpServers };
    if (resume !== null && capabilities['loadSession'] !== true)
      return onFailure('it cannot continue the conversation: the agent does not offer session/load');
    const method = resume === null ? 'session/new' : 'session/load';
    this.#rpc.request(method, resume === null ? place : { sessionId: resume, ...place }, (answer) => {
      const id = answer.type === 'result' ? (resume ?? text(answer.result['sessionId'])) : undefined;
      if (answer.type === 'refused' || id === undefined) return onFailure(this.#whyNotOpened(answer));
      this.#isNew = resume === null;
      this.#models = toModels(answer.result);
      this.#ownModel = this.#models.current;
      this.#opened(id, hasMcp);
    });
  }

  #opened(sessionId: string, hasMcp: boolean): void {
    const { model, mcpServers, onFailure, emit } = this.#options;
    const version = text(record(this.#agent['agentInfo'])?.['version']) ?? null;
    const begin = () => {
      this.#sessionId = sessionId;
      emit([{ key: MAIN, type: 'opened', conversation: sessionId, version }]);
      if (!hasMcp) emit(mcpServers.map(({ name }) => ({ ...NO_MCP, serverName: name })));
      this.#prompt();
    };
    if (model === null || model === this.#models.current) return begin();
    this.#sendModel(
      model,
      (problem) => (problem === null ? begin() : onFailure(`it cannot use the model ${model}: ${problem}`)),
      sessionId,
    );
  }

  #whyNotOpened(answer: RpcAnswer): string {
    const reason = answer.type === 'refused' ? answer.message : 'it named no conversation';
    const ways = records(this.#agent['authMethods']).flatMap(({ name }) => text(name) ?? []);
    const login = /auth/i.test(reason) && ways.length > 0 ? ` (it offers: ${ways.join(', ')})` : '';
    return `it cannot open the conversation: ${reason}${login}`;
  }

  #sendModel(model: string, onDone: (problem: string | null) => void, sessionId = this.#sessionId): void {
    const { type } = this.#models;
    if (type === 'none') return onDone('the agent offers no choice of models');
    const [method, params] =
      type === 'option'
        ? ['session/set_config_option', { sessionId, configId: this.#models.id, value: model }]
        : ['session/set_model', { sessionId, modelId: model }];
    this.#rpc.request(method, params, (answer) => {
      if (answer.type === 'result') this.#models = { ...this.#models, current: model };
      onDone(answer.type === 'refused' ? answer.message : null);
    });
  }

  #update({ sessionId, update: given }: Fields): void {
    const update = record(given);
    // The history of a conversation that is loaded, and what is said between turns, belong to no turn.
    if (update === undefined || !this.#isTurn) return;
    // Of a sub-agent only those calls are known that it has asked for.
    if (sessionId !== this.#sessionId && update['sessionUpdate'] !== 'tool_call_update') return;
    this.#watchFailure(update);
    this.#options.emit(this.#translator.take(update));
  }

  /** codex-acp reports a failed turn as a state and a text, and then as any other turn. */
  #watchFailure(update: Fields): void {
    const status = record(record(record(update['_meta'])?.['codex'])?.['threadStatus']);
    if (status?.['type'] === 'systemError') this.#failure = '';
    if (this.#failure === '' && update['sessionUpdate'] === 'agent_message_chunk')
      this.#failure = text(record(update['content'])?.['text'])?.trim() ?? '';
  }

  /** Everything that was said begins one turn, unless one is under way. */
  #prompt(): void {
    if (this.#sessionId === '' || this.#isTurn || this.#said.length === 0) return;
    this.#isTurn = true;
    this.#isStopping = false;
    this.#translator.begin();
    this.#options.emit([{ key: MAIN, type: 'turn_started' }]);
    const { system } = this.#options.agent;
    const instructions = this.#isNew && system !== null && system !== '' ? [toText(system)] : [];
    this.#isNew = false;
    const kept = this.#kept.splice(0);
    this.#send([...instructions, ...this.#notes(), ...kept, ...this.#said.splice(0).flat()]);
    if (this.#isStopWanted) this.interrupt();
    this.#isStopWanted = false;
  }

  #notes(): InputBlock[] {
    return this.#translator.takeDenials().map((reason) => toText(`A call was denied: ${reason}`));
  }

  #send(content: readonly InputBlock[]): void {
    const { sessionId } = { sessionId: this.#sessionId };
    const capabilities = record(record(this.#agent['agentCapabilities'])?.['promptCapabilities']);
    const prompt = toPrompt(content, { image: capabilities?.['image'] === true });
    this.#failure = null;
    this.#rpc.request('session/prompt', { sessionId, prompt }, (answer) => this.#endPrompt(answer));
  }

  #endPrompt(answer: RpcAnswer): void {
    const outcome = toTurnOutcome(answer, this.#isStopping, this.#failure);
    const isAtDenial = this.#translator.isAtDenial;
    const usage = answer.type === 'result' ? answer.result['usage'] : null;
    this.#options.emit(this.#translator.end(outcome, usage));
    const isOver = outcome.type !== 'done' && outcome.type !== 'stopped';
    // Many agents end the turn with a denial, whose reason they cannot be given: the model reads it and goes on.
    if (isAtDenial && !this.#isStopping && !isOver) {
      this.#translator.begin();
      return this.#send([...this.#notes(), toText('Continue without the denied call.')]);
    }
    this.#isTurn = false;
    const isMoreToCome = this.#said.length > 0;
    this.#options.emit([{ key: MAIN, type: 'turn_ended', outcome, isMoreToCome }]);
    this.#prompt();
  }
}

const NO_MCP = {
  key: MAIN,
  type: 'server_failed',
  isLogin: false,
  reason: 'the agent does not support MCP servers over HTTP',
} as const;

type ModelChoice = { readonly current: string } & (
  | { readonly type: 'none' | 'models' }
  | { readonly type: 'option'; readonly id: string }
);

/** Agents offer models as a configuration option, or in a list of their own. */
function toModels(opened: Fields): ModelChoice {
  const option = records(opened['configOptions']).find(({ id, category }) => category === 'model' || id === 'model');
  const id = text(option?.['id']);
  if (id !== undefined) return { type: 'option', id, current: text(option?.['currentValue']) ?? '' };
  const models = record(opened['models']);
  return models === undefined
    ? { type: 'none', current: '' }
    : { type: 'models', current: text(models['currentModelId']) ?? '' };
}

function toText(words: string): InputBlock {
  return { type: 'text', text: words };
}
