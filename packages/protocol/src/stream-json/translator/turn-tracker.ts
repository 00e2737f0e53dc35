import { identifier, nonEmpty, number, record, strings, text } from '../base/check.ts';
import { parseDoubleEncoded } from '../wire/content.ts';
import type { EventSink } from '../threads/event-sink.ts';
import type { TurnUsage } from '../wire/events.ts';
import { MODELS_MAX, OPEN_TURNS_MAX } from '../base/limits.ts';
import type { StreamJsonMessage } from '../wire/messages.ts';
import { shortName } from '../base/text-mark.ts';
import type { Thread } from '../threads/threads.ts';

/** The state of turns between two lines: plain data, so that a snapshot can contain it unchanged. */
export interface TurnState {
  sessionId: string | undefined;
  model: string | undefined;
  /** Number of the next turn. */
  next: number;
  /** Numbers of the turns that have started and not ended, oldest first. */
  open: number[];
  /** The wire's own count of results, where it has one. */
  resultIndex: number | undefined;
  /** Running totals of the wire: cost, and tokens per model, the first seen first. */
  costUsd: number;
  models: [name: string, total: TurnUsage][];
}

/**
 * Turns and what they cost. A turn starts with every `init` and ends with a `result`, which can come after the next turn's
 * text; so a result closes the oldest open turn, and totals are turned into what this turn added.
 */
export class TurnTracker {
  state: TurnState = {
    sessionId: undefined,
    model: undefined,
    next: 0,
    open: [],
    resultIndex: undefined,
    costUsd: 0,
    models: [],
  };
  readonly #sink: EventSink;
  readonly #doubleEncoded: boolean;

  constructor(sink: EventSink, doubleEncoded: boolean) {
    this.#sink = sink;
    this.#doubleEncoded = doubleEncoded;
  }

  init(line: StreamJsonMessage, main: Thread): void {
    const { state } = this;
    state.sessionId = identifier(line.session_id) ?? state.sessionId;
    state.model = identifier(line.model) ?? state.model;
    const turn = state.next++;
    this.#sink.keepLast(state.open, turn, OPEN_TURNS_MAX, 'turn');
    this.#sink.emit(main, {
      type: 'session_meta',
      model: identifier(line.model) ?? 'unknown',
      sessionId: identifier(line.session_id),
      turn,
      cwd: nonEmpty(line.cwd),
      tools: strings(line.tools),
      version: nonEmpty(line.claude_code_version),
      permissionMode: nonEmpty(line.permissionMode),
    });
  }

  result(line: StreamJsonMessage, main: Thread): void {
    const turn = this.state.open.shift() ?? this.state.next++;
    this.#checkIndex(number(line.result_index), main);
    const isError = line.is_error === true || (nonEmpty(line.subtype)?.startsWith('error') ?? false);
    const result = this.#resultText(line.result);
    const errors = strings(line.errors);
    const sessionId = identifier(line.session_id);
    if (isError) {
      const message = errors?.join('\n') || result || nonEmpty(line.subtype) || 'the turn failed';
      this.#sink.emit(main, { type: 'error', message, sessionId });
    }
    const totalCostUsd = number(line.total_cost_usd);
    const { usage, contextWindow } = this.#usage(record(line.modelUsage));
    const mainUsage = record(line.usage);
    this.#sink.emit(main, {
      type: 'turn_complete',
      turn,
      sessionId,
      subtype: nonEmpty(line.subtype),
      isError,
      result,
      errors,
      costUsd: totalCostUsd === undefined ? undefined : this.#cost(totalCostUsd),
      totalCostUsd,
      inputTokens: usage && usage.inputTokens + usage.cacheReadTokens + usage.cacheCreationTokens,
      outputTokens: usage?.outputTokens,
      contextWindow,
      usage,
      mainUsage: mainUsage && toUsage(mainUsage, MAIN_USAGE),
      durationMs: number(line.duration_ms),
      numTurns: number(line.num_turns),
      stopReason: nonEmpty(line.stop_reason),
      terminalReason: nonEmpty(line.terminal_reason),
      origin: nonEmpty(record(line.origin)?.kind),
      structuredOutput: line.structured_output,
      resultIndex: number(line.result_index),
    });
  }

  #checkIndex(got: number | undefined, main: Thread): void {
    if (got === undefined) return;
    const expected = this.state.resultIndex === undefined ? got : this.state.resultIndex + 1;
    this.state.resultIndex = got;
    if (got > expected) this.#sink.emit(main, { type: 'gap', expected, got });
  }

  #resultText(value: unknown): string | null {
    // An answer that is itself a JSON string must keep its quotes, so decoding twice is only done when asked for.
    if (this.#doubleEncoded && value !== undefined) return parseDoubleEncoded(value);
    return text(value) ?? null;
  }

  /** The cost that this turn added. A total that falls (a new process, `/clear`) counts from 0 again. */
  #cost(total: number): number {
    const before = total < this.state.costUsd ? 0 : this.state.costUsd;
    this.state.costUsd = total;
    return total - before;
  }

  #usage(models: Record<string, unknown> | undefined): { usage?: TurnUsage; contextWindow?: number | undefined } {
    if (!models) return {};
    let contextWindow = 0;
    const usage: TurnUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 };
    for (const [name, value] of Object.entries(models)) {
      const entry = record(value);
      if (!entry) continue;
      contextWindow = Math.max(contextWindow, number(entry.contextWindow) ?? 0);
      const now = toUsage(entry, ['inputTokens', 'outputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens']);
      const before = this.#takeTotals(name, now);
      const restarted = !before || now.outputTokens < before.outputTokens || now.inputTokens < before.inputTokens;
      for (const part of Object.keys(usage) as (keyof TurnUsage)[]) {
        usage[part] += now[part] - (restarted ? 0 : before[part]);
      }
    }
    return { usage, contextWindow: contextWindow || undefined };
  }

  /** Returns the previous totals of the model, and stores `now`. */
  #takeTotals(name: string, now: TurnUsage): TurnUsage | undefined {
    const { models } = this.state;
    const short = shortName(name);
    const known = models.find(([model]) => model === short);
    const before = known?.[1];
    if (known) known[1] = now;
    else this.#sink.keepLast(models, [short, now], MODELS_MAX, 'model');
    return before;
  }
}

/** The four numbers of a usage under the names that the wire has for them here. */
function toUsage(usage: Record<string, unknown>, names: string[]): TurnUsage {
  const [inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheCreationTokens = 0] = names.map((name) =>
    number(usage[name]),
  );
  return { inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens };
}

const MAIN_USAGE = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
