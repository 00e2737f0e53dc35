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
  /** Writes a complete line to the agent. */
  readonly write: (line: string) => void;
  readonly emit: (events: readonly ProgramEvent[]) => void;
  /** Called when the conversation cannot begin. */
  readonly onFailure: (reason: string) => void;
}

/** A conversation with an agent over version 1 of the Agent Client Protocol: sends prompts, and receives updates and permission requests. */
export class AcpConversation {
  readonly #options: AcpConversationOptions;
  readonly #rpc: JsonRpc;
  readonly #translator: AcpTranslator;
  /** Empty until the conversation is open. */
  #sessionId = '';
  #agent: Fields = {};
  /** Messages that were not sent yet. */
  #said: (readonly InputBlock[])[] = [];
  /** Messages from before an interrupt, which are sent with the next message. */
  #kept: InputBlock[] = [];
  #isTurn = false;
  #isStopping = false;
  #isStopWanted = false;
  #isClosed = false;
  /** How the model of the agent is changed, and its current model. */
  #models: ModelChoice = { type: 'none', current: '' };
  #ownModel = '';
  /** The text after the agent has reported an error as a state; null without an error. */
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

  /** Takes an object that the agent wrote. */
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
    // Messages that arrived during the turn are stopped with it, but not lost.
    this.#kept.push(...this.#said.splice(0).flat());
    this.#options.emit(this.#translator.withdraw());
    this.#rpc.notify('session/cancel', { sessionId: this.#sessionId });
  }

  setClosed(isClosed: boolean): void {
    this.#isClosed = isClosed;
  }

  /** Changes the model from the next turn on. A model that the agent does not have changes nothing. */
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

  /** Drops open requests: the agent has exited. */
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
    // Updates of a loaded conversation's history, and updates between turns, belong to no turn.
    if (update === undefined || !this.#isTurn) return;
    // Of a sub-agent, only calls with a permission request are known.
    if (sessionId !== this.#sessionId && update['sessionUpdate'] !== 'tool_call_update') return;
    this.#watchFailure(update);
    this.#options.emit(this.#translator.take(update));
  }

  /** Detects a failed turn of codex-acp, which reports it as a state and a text, and then ends it like any other turn. */
  #watchFailure(update: Fields): void {
    const status = record(record(record(update['_meta'])?.['codex'])?.['threadStatus']);
    if (status?.['type'] === 'systemError') this.#failure = '';
    if (this.#failure === '' && update['sessionUpdate'] === 'agent_message_chunk')
      this.#failure = text(record(update['content'])?.['text'])?.trim() ?? '';
  }

  /** Begins one turn with all unsent messages, unless a turn is running. */
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
    // Many agents end the turn at a denial, whose reason the protocol cannot carry: it is sent as a prompt, and the model continues.
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

/** Reads the models of an agent, which are a configuration option or a list of their own. */
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
