import type { SessionFrame } from '../../frames/frames.ts';
import type { Complain } from './check-log.suite.ts';

interface Grown {
  readonly startId: string;
  readonly block: 'text' | 'thinking';
  text: string;
  isDone: boolean;
}

/** Checks the model requests of a log and the deltas in them. */
export class LogRequests {
  /** The open request of each thread. */
  readonly #open = new Map<string, string>();
  /** Calls that may write output. */
  readonly #running = new Set<string>();
  readonly #grown = new Map<string, Grown>();

  take({ type, payload, threadId }: SessionFrame, complain: Complain): void {
    const startId = this.#open.get(threadId ?? '');
    switch (type) {
      case 'span.model_request_start':
        if (startId !== undefined) complain('the request before it has not ended');
        this.#open.set(threadId!, payload.id);
        return;
      case 'span.model_request_end':
        if (startId !== payload.model_request_start_id)
          complain(`ends ${payload.model_request_start_id}, open is ${startId}`);
        if (!payload.is_error) this.#checkGrown(startId, complain);
        this.#open.delete(threadId!);
        return;
      case 'turn.ended':
        if (startId !== undefined) complain('a model request has not ended');
        return;
      case 'delta.started':
        if (startId === undefined) return complain('there is no request that it could belong to');
        if (this.#grown.has(payload.id)) complain(`${payload.id} has begun before`);
        this.#grown.set(payload.id, { startId, block: payload.block, text: '', isDone: false });
        return;
      case 'delta.text':
      case 'delta.thinking':
        return this.#grow(payload, type === 'delta.text' ? 'text' : 'thinking', startId, complain);
      case 'delta.output':
        if (!this.#running.has(payload.id)) complain(`${payload.id} does not run`);
        return;
      case 'tool.started':
        this.#running.add(payload.tool_use_id);
        return;
      case 'user.tool_confirmation':
        if (payload.result === 'allow') this.#running.add(payload.tool_use_id);
        return;
      case 'agent.tool_result':
        this.#running.delete(payload.tool_use_id);
        return;
      case 'agent.message':
        return this.#finish(payload.id, payload.content.map(({ text }) => text).join(''), startId, complain);
      case 'agent.thinking': {
        const { block } = payload;
        return this.#finish(payload.id, block.type === 'thinking' ? block.thinking : '', startId, complain);
      }
      default:
        if (type.startsWith('agent.') && type.endsWith('tool_use') && startId === undefined)
          complain('is part of no answer');
    }
  }

  #grow(
    { id, text }: { id: string; text: string },
    block: Grown['block'],
    startId: string | undefined,
    complain: Complain,
  ) {
    const grown = this.#grown.get(id);
    if (grown === undefined) return complain(`${id} has not begun`);
    if (grown.startId !== startId) complain(`the request of ${id} has ended`);
    if (grown.block !== block) complain(`${id} is ${grown.block}`);
    if (grown.isDone) complain(`${id} is whole already`);
    grown.text += text;
  }

  #finish(id: string, text: string, startId: string | undefined, complain: Complain): void {
    if (startId === undefined) complain('is part of no answer');
    const grown = this.#grown.get(id);
    if (grown === undefined) return;
    if (grown.startId !== startId) complain(`the request of ${id} has ended`);
    if (grown.text !== text) complain(`grew to ${JSON.stringify(grown.text)} and is ${JSON.stringify(text)}`);
    grown.isDone = true;
  }

  /** A complete model response has every block that was streamed, except empty ones. */
  #checkGrown(startId: string | undefined, complain: Complain): void {
    for (const [id, grown] of this.#grown) {
      if (grown.startId === startId && !grown.isDone && grown.text !== '') complain(`${id} grew and never came`);
    }
  }
}
