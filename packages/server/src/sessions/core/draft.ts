import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { Turn } from '../../store/frame.ts';
import { evolve } from './state/evolve.ts';
import type { FramePayloads, FrameType, NewSessionFrame } from '../../frames/frames.ts';
import type { UsageTotals } from '../../frames/payload-parts.ts';
import type { SessionState, ThreadState } from './state/state.ts';

/** Where time and ids come from, so that any run can be replayed exactly. */
export interface Sources {
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  readonly models: { windowTokens(model: string): number };
  /** The usage of an open model request, as far as its engine reported it. */
  readonly spentOn?: (startId: string) => UsageTotals | undefined;
}

/** The types whose payload begins with the id of their event. */
type WithId = { [Type in FrameType]: FramePayloads[Type] extends { id: string } ? Type : never }[FrameType];

/**
 * The frames that one command adds to a session, committed in one write. Each is folded into the state as soon as it is
 * added, so that later steps see it.
 */
export class Draft {
  readonly state: SessionState;
  readonly frames: NewSessionFrame[] = [];
  readonly now: number;
  /** The context window of a model, in tokens. */
  readonly windowTokens: (model: string) => number;
  readonly spentOn: NonNullable<Sources['spentOn']>;
  readonly #ids: Ids;

  constructor(state: SessionState, { clock, ids, models, spentOn = () => undefined }: Sources) {
    this.state = state;
    this.spentOn = spentOn;
    this.windowTokens = (model) => models.windowTokens(model);
    this.now = Math.max(clock.now(), state.updatedAt);
    this.#ids = ids;
  }

  /** Adds a frame of a thread, in its open turn; null: of the session. */
  add<Type extends FrameType>(thread: ThreadState | null, type: Type, payload: FramePayloads[Type]): void {
    this.addInTurn(thread, thread?.turn ?? null, type, payload);
  }

  /** Adds a frame with a new event id and returns the id. */
  event<Type extends WithId>(thread: ThreadState | null, type: Type, payload: Omit<FramePayloads[Type], 'id'>): string {
    const id = this.#ids.next('sevt');
    // With the id it is the payload of its type.
    this.add(thread, type, { id, ...payload } as unknown as FramePayloads[Type]);
    return id;
  }

  addInTurn<Type extends FrameType>(
    thread: ThreadState | null,
    turn: Turn | null,
    type: Type,
    payload: FramePayloads[Type],
  ): void {
    const place = turn === null ? null : { streamId: turn.streamId, depth: turn.depth, run: turn.run };
    // The payload is that of the type, which the compiler cannot see through the generic.
    const frame = { threadId: thread?.id ?? null, turn: place, time: this.now, type, payload } as NewSessionFrame;
    this.frames.push(frame);
    evolve(this.state, frame);
  }

  nextThreadId(): string {
    return this.#ids.next('sthr');
  }

  nextRunId(): string {
    return this.#ids.next('req');
  }
}
