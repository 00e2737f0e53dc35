import { isDeepStrictEqual } from 'node:util';
import { ignoringFailure, inBackground, reportAsWarning } from '../../base/in-background.ts';
import type { InputBlock } from '../../base/content.ts';
import { limits } from '../../base/limits.ts';
import type { Cancel } from '../../base/schedule.ts';
import type { Usage } from '../../engines/engine.ts';
import { type StartOptions, startOptionsOf } from '../../engines/program-options.ts';
import { toEndedProgram } from '../../engines/no-program.ts';
import {
  type Decision,
  MAIN,
  type Program,
  type ProgramEngine,
  type ProgramEvent,
  type ProgramOptions,
  type ProgramVitals,
} from '../../engines/program.ts';
import type { FramePayloads, NewSessionFrame } from '../../frames/frames.ts';
import { toSystemNote } from '../fold-thread.ts';
import { primaryOf, type SessionState } from '../state.ts';
import { findThread } from './find-thread.ts';
import { ProgramDeltas, type ProgramDeltasOptions } from './program-deltas.ts';
import { steer, type Steering, steeringOf, unsteeredOf } from './steering.ts';
import type { TakenEvent } from './take-program-event.ts';

export interface ProgramDriverOptions extends ProgramDeltasOptions {
  readonly engine: ProgramEngine;
  readonly openWorkspace: (sessionId: string) => Promise<string>;
  readonly costNanoUsd: (model: string, usage: Usage, speed: 'standard' | 'fast') => number | null;
  /** The state has it at once, in the order of the calls. Resolves when it is durable, and never rejects. */
  readonly dispatch: (events: readonly TakenEvent[]) => Promise<void>;
}

/**
 * Stands between a session and the program that runs it: what the log says is done with the program, and what the program
 * tells is written to the log. The program is started when there is something to say to it.
 */
export class ProgramDriver {
  readonly #options: ProgramDriverOptions;
  readonly #deltas: ProgramDeltas;
  #opening: Promise<Program> | undefined;
  #program: Program | undefined;
  /** What the program was started with, or will be. */
  #startOptions: StartOptions;
  /** What it was told last of model and permissions. */
  #steering: Steering;
  #reading: Promise<void> = Promise.resolve();
  /** Its conversation is lost: the next one begins anew. */
  #isForgetful = false;
  #isDropped = false;
  /** Everything was stopped, and nobody has said anything since. */
  #isHushed = false;
  /** Messages of the log that the program has not been given yet. */
  #unsaid = 0;
  #cancelPatience: Cancel = () => {};
  /** Ends the wait for a program that is being started. */
  #giveUpStart: () => void = () => {};
  /** Writes that are not durable yet, oldest first. */
  readonly #writes = new Set<Promise<void>>();

  constructor(options: ProgramDriverOptions) {
    this.#options = options;
    this.#deltas = new ProgramDeltas(options);
    this.#steering = unsteeredOf(options.state);
    this.#startOptions = startOptionsOf(options.state.metadata);
  }

  /** The state has the frames. They are not durable yet. */
  accept(frames: readonly NewSessionFrame[]): void {
    if (this.#toMessage(frames).length > 0) this.#unsaid++;
  }

  /** Frames are durable: what they say is done. */
  begin(frames: readonly NewSessionFrame[]): void {
    const message = this.#toMessage(frames);
    if (message.length > 0) inBackground(this.#say(message), reportAsWarning);
    const updates = frames.filter((frame) => frame.type === 'session.updated');
    if (updates.some(({ payload }) => payload.agent !== undefined)) this.#renew();
    else if (updates.length > 0 && !this.#hasStartOptions()) this.#renew();
    if (updates.length > 0 && this.#program !== undefined) this.#steer(this.#program);
    for (const frame of frames) this.#perform(frame);
  }

  /** Nothing while there is no program. */
  get vitals(): ProgramVitals | undefined {
    return this.#program?.vitals();
  }

  stopUnwanted(): void {
    this.#deltas.stopUnwanted();
  }

  /** Ends the program without a word in the log. Resolves when nothing of it is left. */
  async drop(): Promise<void> {
    this.#isDropped = true;
    this.#cancelPatience();
    const cancelGivingUp = this.#options.schedule(() => this.#giveUpStart(), limits.programEndMs);
    const program = await this.#opening;
    cancelGivingUp();
    await program?.close();
    await this.#reading;
  }

  /** Ends the program. A later message starts another one with the same conversation. */
  async close(): Promise<void> {
    const program = this.#program;
    if (program === undefined) return this.#giveUpStart();
    this.#forget(true);
    await program.close();
  }

  /** What the program is to be told. Nothing for a turn that is over before it begins, because the budget is used up. */
  #toMessage(frames: readonly NewSessionFrame[]): readonly InputBlock[] {
    const { id } = primaryOf(this.#options.state);
    const last = frames.findLastIndex((frame) => toSaid(frame).length > 0);
    const isOver = frames.slice(last + 1).some(({ type, threadId }) => type === 'turn.ended' && threadId === id);
    return isOver ? [] : frames.flatMap(toSaid);
  }

  async #say(content: readonly InputBlock[]): Promise<void> {
    this.#isHushed = false;
    this.#opening ??= this.#open();
    const program = await this.#opening;
    this.#unsaid--;
    if (!this.#isDropped) program.say(content);
  }

  #hasStartOptions(): boolean {
    return isDeepStrictEqual(startOptionsOf(this.#options.state.metadata), this.#startOptions);
  }

  /** What the program was started with has changed, its definition or its options: the next message starts another one. */
  #renew(): void {
    const { state } = this.#options;
    const isAtWork = [...state.threads.values()].some(({ turn }) => turn !== null);
    if (isAtWork || this.#program === undefined) return;
    const reason = 'the definition of the agent was changed, which starts the program again with the next message';
    inBackground(this.#options.dispatch([{ event: { type: 'work_lost', key: MAIN, reason } }]), reportAsWarning);
    inBackground(this.close(), reportAsWarning);
  }

  async #open(): Promise<Program> {
    // Two processes must not go on with the same conversation.
    await this.#reading;
    const program = await this.#startUnlessGivenUp();
    this.#program = program;
    this.#steering = unsteeredOf(this.#options.state);
    this.#steer(program);
    this.#reading = this.#read(program);
    return program;
  }

  /** Also while it works: it holds from the next request on. */
  #steer(program: Program): void {
    const wanted = steeringOf(this.#options.state);
    steer(program, this.#steering, wanted);
    this.#steering = wanted;
  }

  /** A start may hang. A program that comes after it was given up is closed. */
  async #startUnlessGivenUp(): Promise<Program> {
    const starting = this.#start().catch((error: unknown) => toEndedProgram(String(error)));
    const givenUp = new Promise<undefined>((resolve) => {
      this.#giveUpStart = () => resolve(undefined);
    });
    const started = await Promise.race([starting, givenUp]);
    if (started !== undefined) return started;
    ignoringFailure(starting.then((late) => late.close()));
    return toEndedProgram('the program was stopped before it had started');
  }

  async #start(): Promise<Program> {
    const { engine, openWorkspace, state } = this.#options;
    const { id: sessionId, agent, created, conversation } = state;
    const { networking, type } = created.environment;
    if (type === 'self_hosted') return toEndedProgram(ELSEWHERE, 'program_unavailable');
    const directory = await openWorkspace(sessionId);
    const resume = this.#isForgetful ? null : conversation;
    const { members, depth_max: depthCreated } = created;
    this.#startOptions = startOptionsOf(state.metadata);
    const { depth, settings } = this.#startOptions;
    const known = resume === null ? [] : toKnown(state);
    const depthMax = depth ?? depthCreated;
    const forkAt = state.isConversationForked ? (state.conversationAt ?? undefined) : undefined;
    const about = { sessionId, directory, agent, members, networking };
    return await engine.open({ ...about, depthMax, settings, known, resume, forkAt });
  }

  /** So many writes wait for the disk and no more, so that a program that says much does not fill the memory. */
  async #read(program: Program): Promise<void> {
    let isOpened = false;
    for await (const events of program.events) {
      isOpened ||= events.some(({ type }) => type === 'opened');
      // The end of one that was renewed ends nothing: what has begun since is the affair of the next one.
      const isCurrent = this.#program === program;
      if (isCurrent && events.some(({ type }) => type === 'exited')) this.#forget(isOpened);
      await this.#take(isCurrent ? events : events.filter(({ type }) => type !== 'exited'));
      if (isTurnOpen(events)) this.#stopAgain(program);
    }
    await Promise.all(this.#writes);
  }

  #forget(isOpened: boolean): void {
    this.#program = undefined;
    this.#opening = undefined;
    this.#cancelPatience();
    this.#isForgetful = !isOpened && this.#options.state.conversation !== null;
  }

  /** What grows is written by itself, in its place among the rest. */
  async #take(events: readonly ProgramEvent[]): Promise<void> {
    let taken: TakenEvent[] = [];
    for (const event of events) {
      const isGrowing = event.type === 'block_started' || event.type === 'block_delta';
      // Both are decided on what came before. Otherwise what wakes a session has to come with what put it to rest.
      if (isGrowing || (isWaking(event) && this.#isHushed)) {
        await this.#dispatch(taken);
        taken = [];
      }
      if (event.type === 'block_started') this.#deltas.start(event);
      else if (event.type === 'block_delta') await this.#deltas.grow(event);
      else if (!this.#isUnwanted(event)) taken.push(this.#toTaken(this.#withMessages(event)));
    }
    await this.#dispatch(taken);
  }

  /** A turn that ends while a message waits to be given to the program is not the turn of that message: its own follows. */
  #withMessages(event: TakenEvent['event']): TakenEvent['event'] {
    return event.type === 'turn_ended' && this.#unsaid > 0 ? { ...event, isMoreToCome: true } : event;
  }

  /**
   * Everything was stopped, and what the stopped ones leave behind wakes nobody: the program would read it in a turn of
   * its own. Such a turn is not begun here, and is stopped there.
   */
  #isUnwanted(event: ProgramEvent): boolean {
    const { state } = this.#options;
    if (event.type === 'thread_ended') {
      this.#isHushed ||= findThread(state, event.key)?.turn?.stopping?.isReported === false;
    }
    return isWaking(event) && this.#isHushed && primaryOf(state).turn === null;
  }

  /** What follows is decided on the state, which is ahead of the disk: only too many writes are waited for. */
  async #dispatch(taken: readonly TakenEvent[]): Promise<void> {
    if (taken.length === 0 || this.#isDropped) return;
    const write: Promise<void> = this.#options.dispatch(taken).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
    if (this.#writes.size >= limits.programWritesMax) await this.#writes.values().next().value;
  }

  #toTaken(event: TakenEvent['event']): TakenEvent {
    if (event.type === 'block_ended') return { event, id: this.#deltas.end(event) };
    if (event.type !== 'request_ended') return { event };
    const { costNanoUsd, state } = this.#options;
    return { event, costNanoUsd: costNanoUsd(event.model, event.usage, state.agent.model.speed) };
  }

  #perform(frame: NewSessionFrame): void {
    const { type, payload, threadId } = frame;
    if ('not_applied' in payload && payload.not_applied !== undefined) return;
    const thread = threadId === null ? undefined : this.#options.state.threads.get(threadId);
    const program = this.#program;
    if (thread === undefined) return;
    if (type === 'turn.stopping') this.#watchStop();
    if (program === undefined) return;
    if (type === 'turn.stopping') {
      if (thread.programKey === null) program.interrupt();
      else program.stopThread(thread.programKey);
    } else if (type === 'user.tool_confirmation') {
      const call = thread.calls.get(payload.tool_use_id);
      if (call !== undefined) program.answer(call.callId, toDecision(payload));
    } else if (type === 'user.custom_tool_result') {
      const call = thread.calls.get(payload.custom_tool_use_id);
      const { content, is_error: isError } = payload;
      if (call !== undefined) program.giveResult(call.callId, { content, isError });
    }
  }

  /** A turn that was to be stopped before it had begun begins now, or one that nobody wants after everything was stopped. */
  #stopAgain(program: Program): void {
    const { turn } = primaryOf(this.#options.state);
    if (turn === null ? this.#isHushed : turn.stopping !== null) program.interrupt();
  }

  /** A program that does not stop, or has not started by then, is ended: nothing may go on that the log says is being stopped. */
  #watchStop(): void {
    const { schedule, state } = this.#options;
    this.#cancelPatience();
    this.#cancelPatience = schedule(() => {
      const isStopping = [...state.threads.values()].some(({ turn }) => turn !== null && turn.stopping !== null);
      if (!isStopping) return;
      if (this.#program === undefined) this.#giveUpStart();
      else inBackground(this.#program.close(), reportAsWarning);
    }, limits.programStopMs);
  }
}

const ELSEWHERE = 'a program runs its tools on this server, and this environment wants them elsewhere: use another one';

function toKnown({ threads }: SessionState): ProgramOptions['known'] {
  return [...threads.values()].flatMap(({ programKey: key, programCall: callId }) =>
    key === null || callId === null ? [] : [{ key, callId }],
  );
}

function toDecision(decided: FramePayloads['user.tool_confirmation']): Decision {
  if (decided.result === 'allow') return { type: 'allow', updatedInput: decided.updated_input };
  const message = decided.deny_message ?? 'The user refused this call.';
  return { type: 'deny', message, isInterrupting: decided.interrupt === true };
}

/** Whether the program is in a turn that one of these events began. An interrupt after its end would hit the next one. */
function isTurnOpen(events: readonly ProgramEvent[]): boolean {
  return events.findLast(({ type }) => type === 'turn_started' || type === 'turn_ended')?.type === 'turn_started';
}

function isWaking({ type }: ProgramEvent): boolean {
  return type === 'turn_expected' || type === 'turn_started';
}

function toSaid({ type, payload }: NewSessionFrame): readonly InputBlock[] {
  if (type === 'user.message' && payload.is_processed) return payload.content;
  return type === 'system.message' && payload.is_processed ? toSystemNote(payload.content) : [];
}
