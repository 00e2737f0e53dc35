import type { FleetEvent, KnownFleetEvent } from '@fleetloom/protocol/fleet';

/** Creates the events of a session one after the other, with growing cursors and a clock that tests advance. */
export class FleetEvents {
  nowMs = 1_800_000_000_000;
  readonly list: FleetEvent[] = [];
  #seq = 0;
  #run = 0;
  readonly #agents = new Map<number, { agent: string; depth: number; thread: string }>();

  start(message = 'task'): this {
    this.#run += 1;
    this.#agents.clear();
    return this.#add({
      type: 'request_received',
      request_id: `req_${this.#run}`,
      session_id: 'sesn_1',
      agent: 'lead',
      message,
    });
  }

  open(
    id: number,
    agent: string,
    parent: number | null = null,
    thread = `sthr_${agent}_${this.#run}_${id}`,
    childIndex: number | null = null,
  ): this {
    const depth = parent === null ? 0 : (this.#agents.get(parent)?.depth ?? 0) + 1;
    this.#agents.set(id, { agent, depth, thread });
    return this.on(id, {
      type: 'stream_start',
      parent_stream_id: parent,
      child_index: childIndex,
      task: `do ${agent}`,
      model: 'm',
    });
  }

  /** Adds an event of a turn. The fields that all such events have are filled in. */
  on(id: number, event: object): this {
    const { agent = '?', depth = 0, thread = null } = this.#agents.get(id) ?? {};
    return this.#add({ stream_id: id, depth, agent, thread_id: thread, ...event });
  }

  /** Adds an event of the session, outside of its turns. */
  session(event: object): this {
    return this.#add({ session_id: 'sesn_1', ...event });
  }

  text(id: number, delta: string): this {
    return this.on(id, { type: 'text', delta });
  }

  ask(id: number, command: string, toolUseId = `sevt_${id}`): this {
    return this.on(id, { type: 'approval_required', tool: 'bash', tool_use_id: toolUseId, input: { command } });
  }

  usage(id: number, tokens: number, cost?: number): this {
    const costs = cost === undefined ? {} : { cost_usd: cost };
    return this.on(id, {
      type: 'token_usage',
      model: 'm',
      input_tokens: tokens,
      output_tokens: 0,
      cache_read_tokens: 0,
      cache_create_tokens: 0,
      ...costs,
    });
  }

  close(id: number, stopReason = 'end_turn'): this {
    return this.on(id, { type: 'stream_end', ok: stopReason === 'end_turn', stop_reason: stopReason });
  }

  done(ok = true, tokens = 0): this {
    const run = { request_id: `req_${this.#run}`, session_id: 'sesn_1' };
    return this.#add({
      type: 'done',
      ok,
      ...run,
      content: 'end',
      input_tokens: tokens,
      output_tokens: 0,
      files_bytes: 0,
      duration_ms: 5,
    });
  }

  later(ms: number): this {
    this.nowMs += ms;
    return this;
  }

  #add(event: object): this {
    this.#seq += 1;
    // The cast is safe: callers pass the fields of their event type.
    const whole = { cursor: String(this.#seq), seq: this.#seq, ts: this.nowMs, ...event } as unknown as KnownFleetEvent;
    this.list.push(whole);
    return this;
  }
}
