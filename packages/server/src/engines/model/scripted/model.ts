import { inSlices } from '../../../base/in-slices.ts';
import { type Attempts, createAttempts } from './attempts.ts';
import { listBuiltIns, readBuiltIn } from './script/built-in-scripts.ts';
import { checkRequest } from './request/check-request.ts';
import { countTokens } from './request/count-tokens.ts';
import { deriveId } from './digest.ts';
import { ScriptedModelError } from './failure.ts';
import { findScript, type ReadScript } from './request/find-script.ts';
import { MessageFold } from './fold-message.ts';
import { catchInvalidInput, InvalidInput } from './script/invalid-input.ts';
import type { Plan } from './plan/plan.ts';
import { planAnswer } from './plan/plan-answer.ts';
import { planRefusal } from './plan/plan-refusal.ts';
import { checkResponsesRequest } from './responses/check-request.ts';
import { play, type Sleep } from './play.ts';
import { createUserScripts } from './script/user-scripts.ts';
import type { Message, MessagesEvent, PingEvent } from './wire.ts';

/** Options of the scripted model. */
export interface ScriptedModelOptions {
  /** A directory of scripts, one JSON or YAML file each. They take precedence over built-in scripts of the same name. */
  scriptsDirectory?: string | undefined;
  /** Waits for a time; tests replace it to wait no time. */
  sleep?: Sleep | undefined;
  /** The counter of attempts. */
  attempts?: Attempts | undefined;
}

/** Options of one request to the scripted model. */
export interface AskOptions {
  signal?: AbortSignal | undefined;
  /** The name of the agent, for `{{agent}}`. */
  agent?: string | undefined;
}

/** Options of planning a response. */
export interface PlanOptions extends AskOptions {
  /** The API of the request in `params`. By default `messages`. */
  api?: 'messages' | 'responses' | undefined;
}

/**
 * A model that plays scripts. `params` is the body of `POST /v1/messages`, and is checked like a body over HTTP.
 */
export interface ScriptedModel {
  /** The events of the response. Throws a {@link ScriptedModelError} if the API would fail, or the signal's reason. */
  stream(params: object, options?: AskOptions): AsyncGenerator<MessagesEvent, void>;
  /** The whole response. Throws like `stream`. */
  create(params: object, options?: AskOptions): Promise<Message>;
  countTokens(params: object): Promise<{ input_tokens: number }>;
  /** The names of the scripts, sorted: `echo` is the model `scripted/echo`. */
  listScripts(): Promise<string[]>;
  /**
   * Plans the response before any of it is played. Counts as an attempt. Never throws because of the request, only the
   * signal's reason.
   */
  plan(params: unknown, options?: PlanOptions): Promise<Plan>;
  /** Plays a plan as `stream` does, with pings. Events that are due at the same time are emitted together. */
  play(plan: Plan, options?: Pick<AskOptions, 'signal'>): AsyncGenerator<(MessagesEvent | PingEvent)[], void>;
}

/**
 * The scripted model in this process: no key, no network, the same bytes every time.
 *
 * @example
 * const model = createScriptedModel();
 * const messages = [{ role: 'user', content: 'Hello' }];
 * for await (const event of model.stream({ model: 'scripted/echo', max_tokens: 100, messages }))
 * console.log(event.type);
 */
export function createScriptedModel(options: ScriptedModelOptions = {}): ScriptedModel {
  const { sleep, attempts = createAttempts() } = options;
  const userScripts = options.scriptsDirectory === undefined ? undefined : createUserScripts(options.scriptsDirectory);
  const readScript: ReadScript = async (name) => (await userScripts?.read(name)) ?? readBuiltInScript(name);

  const model: ScriptedModel = {
    stream: async function* (params, { signal, agent } = {}) {
      for await (const events of model.play(await model.plan(params, { agent, signal }), { signal })) {
        for (const event of events) {
          signal?.throwIfAborted();
          if (event.type !== 'ping') yield event;
        }
      }
    },
    create: async (params, { signal, agent } = {}) => {
      const fold = new MessageFold();
      for await (const due of model.play(await model.plan(params, { agent, signal }), { signal })) fold.add(due);
      return fold.finish();
    },
    countTokens: async (params) => {
      const asked = await inSlices(catchInvalidInput(checkRequest(params, 'count')));
      if (!(asked instanceof InvalidInput)) return { input_tokens: countTokens(asked) };
      const [item] = refuse(asked.message).items;
      throw item?.type === 'failure' ? new ScriptedModelError(item.failure) : asked;
    },
    listScripts: async () => [...new Set([...listBuiltIns(), ...((await userScripts?.list()) ?? [])])].sort(),
    plan: async (params, { agent = '', signal, api = 'messages' } = {}) => {
      const check = api === 'messages' ? checkRequest(params, 'answer') : checkResponsesRequest(params);
      const asked = await inSlices(catchInvalidInput(check), signal);
      if (asked instanceof InvalidInput) return refuse(asked.message, { param: asked.path });
      const found = await findScript(asked, readScript, signal);
      if (found.type === 'problem') return refuse(found.message, { status: found.status });
      const { script, conversation } = found;
      const countAttempt = (request: string) => attempts.count(request);
      return await inSlices(planAnswer({ script, asked, conversation, agent, countAttempt }), signal);
    },
    play: (plan, { signal } = {}) => play(plan, { sleep, signal }),
  };
  return model;
}

function readBuiltInScript(name: string): Awaited<ReturnType<ReadScript>> {
  const script = readBuiltIn(name);
  return script === undefined ? undefined : { type: 'script', script };
}

function refuse(message: string, { status = 400, param }: { status?: 400 | 404; param?: string } = {}): Plan {
  return planRefusal({ status, message, param, requestId: deriveId('req', 'refused', String(status), message) });
}
