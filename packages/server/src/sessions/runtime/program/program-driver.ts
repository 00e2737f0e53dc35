import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import type { TakenEvent } from '../../core/command.ts';
import { isDeepStrictEqual } from 'node:util';
import { ignoringFailure, inBackground, reportAsWarning } from '../../../base/in-background.ts';
import type { InputBlock } from '../../../base/content.ts';
import { programLimits } from '../../../engines/program/limits.ts';
import { sessionLimits } from '../../core/limits.ts';
import type { Usage } from '../../../engines/model/engine.ts';
import type { LoggedThread } from '../../../engines/program/ended-conversation.ts';
import { type StartOptions, startOptionsOf } from '../../../engines/program/program-options.ts';
import { toEndedProgram } from '../../../engines/program/no-program.ts';
import {
  MAIN,
  type Program,
  type ProgramEngine,
  type ProgramEvent,
  type ProgramVitals,
} from '../../../engines/program/program.ts';
import type { NewSessionFrame } from '../../../frames/frames.ts';
import type { RecordCause } from '../../../workspaces/snapshots/recorder-options.ts';
import type { WorkspaceChange } from '../../../workspaces/snapshots/workspace-change.ts';
import { agentOf } from '../../core/state/agent-of.ts';
import { hasOpenTurn, rootOf } from '../../core/state/program-threads.ts';
import { type ThreadState, threadOf } from '../../core/state/state.ts';
import { isDelegationName } from '../../core/delegation/delegation-tools.ts';
import { findCall, findThread } from '../../core/program/find-thread.ts';
import { toProgramDefinition } from './program-definition.ts';
import { isDelta, ProgramDeltas, type ProgramDeltasOptions } from './program-deltas.ts';
import type { SessionFiles } from '../session-files.ts';
import { toRecordedCall } from '../to-recorded-call.ts';
import { startProgram } from './start-program.ts';
import { StopTimers } from './stop-timers.ts';
import { steer, type Steering, steeringOf, unsteeredOf } from './steering.ts';
import { toDecision, toMessageId, toSaid } from './to-program-input.ts';
import { isTurnOpen, isWaking } from './turn-events.ts';

/** What driving a program needs. */
export interface ProgramDriverOptions extends ProgramDeltasOptions {
  readonly engine: ProgramEngine;
  readonly openWorkspace: (sessionId: string) => Promise<string>;
  readonly costNanoUsd: (model: string, usage: Usage, speed: 'standard' | 'fast') => number | null;
  /** Applies events to the state at once, in the order of the calls. Resolves when the events are durable, and never rejects. */
  readonly dispatch: (events: readonly TakenEvent[], change?: WorkspaceChange) => Promise<void>;
  /** The recorded files of the session; null if it has none. */
  readonly files: SessionFiles | null;
}

/**
 * Connects a session to a program that runs one of its threads: logged frames are executed on the program, and the events that the
 * program reports are written to the log. The program is started when there is a message for it.
 */
export class ProgramDriver {
  readonly #options: ProgramDriverOptions;
  readonly #deltas: ProgramDeltas;
  #opening: Promise<Program> | undefined;
  #program: Program | undefined;
  /** The options that the program was started with, or will be started with. */
  #startOptions: StartOptions;
  /** The model and permission mode that the program has now. */
  #steering: Steering;
  #reading: Promise<void> = Promise.resolve();
  /** The conversation of the program is lost: the next program starts a new one. */
  #isForgetful = false;
  #isDropped = false;
  /** A message was sent to the running program. Before that, it does not report the id of its conversation. */
  #isSaid = false;
  /** The session was interrupted, and no message has arrived since. */
  #isHushed = false;
  /** The number of logged messages that were not sent to the program yet. */
  #unsaid = 0;
  readonly #stopTimers: StopTimers;
  /** Ends the wait for a program that is being started. */
  #giveUpStart: () => void = () => {};
  /** Writes that are not durable yet, oldest first. */
  readonly #writes = new Set<Promise<void>>();

  constructor(options: ProgramDriverOptions) {
    this.#options = options;
    this.#deltas = new ProgramDeltas(options);
    this.#stopTimers = new StopTimers(options, () => this.#endOverdue());
    this.#steering = unsteeredOf(this.#agent);
    this.#startOptions = this.#readStartOptions();
  }

  /** Called when the state has the frames, before they are durable. */
  accept(frames: readonly NewSessionFrame[]): void {
    if (this.#toMessage(frames).length > 0) this.#unsaid++;
  }

  /** Called when frames are durable: executes them on the program. */
  begin(frames: readonly NewSessionFrame[]): void {
    const message = this.#toMessage(frames);
    if (message.length > 0) inBackground(this.#say(message, toMessageId(this.#ownOf(frames))), reportAsWarning);
    const updates = frames.filter((frame) => frame.type === 'session.updated');
    if (updates.some(({ payload }) => payload.agent !== undefined) && this.#root.member === null) this.#renew();
    else if (updates.length > 0 && !this.#hasStartOptions()) this.#renew();
    if (updates.length > 0 && this.#program !== undefined) this.#steer(this.#program);
    for (const frame of frames) this.#perform(frame);
  }

  /**
   * Logs events that are in the transcripts of the last owner's program but not in the log. Never rejects: without transcripts a session is
   * recovered nevertheless.
   */
  async recover(threads: ReadonlyMap<string, LoggedThread>): Promise<void> {
    const { engine } = this.#options;
    const { conversation } = this.#root.program;
    if (conversation === null) return;
    try {
      const about = { ...toProgramDefinition(this.#options.state, this.#root), conversation, threads };
      for await (const events of engine.recover(about)) await this.#take(events.filter(isDone));
    } catch (error) {
      reportAsWarning(error);
    }
    await Promise.all(this.#writes);
  }

  /** The vitals of the program; undefined while no program runs. */
  get vitals(): ProgramVitals | undefined {
    return this.#program?.vitals();
  }

  /** The program that runs. With `isResumed` a program that has ended is started again, to continue its conversation. */
  async find({ isResumed }: { readonly isResumed: boolean }): Promise<Program | undefined> {
    const canResume = isResumed && this.#root.program.conversation !== null && !this.#isForgetful;
    if (this.#program !== undefined || !canResume || this.#isDropped) return this.#program;
    await (this.#opening ??= this.#open());
    return this.#program;
  }

  stopUnwanted(): void {
    this.#deltas.stopUnwanted();
  }

  /** Ends the program without writing to the log. Resolves when all of its processes have ended. */
  async drop(): Promise<void> {
    this.#isDropped = true;
    this.#stopTimers.cancel();
    const cancelGivingUp = this.#options.schedule(() => this.#giveUpStart(), programLimits.programEndMs);
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

  /** The messages for the program. None for a turn that ends before it begins, because the budget is used up. */
  #toMessage(frames: readonly NewSessionFrame[]): readonly InputBlock[] {
    const own = this.#ownOf(frames);
    const last = own.findLastIndex((frame) => toSaid(frame, this.#root).length > 0);
    const isOver = own.slice(last + 1).some(({ type }) => type === 'turn.ended');
    return isOver ? [] : own.flatMap((frame) => toSaid(frame, this.#root));
  }

  #ownOf(frames: readonly NewSessionFrame[]): readonly NewSessionFrame[] {
    return frames.filter(({ threadId }) => threadId === this.#options.rootId);
  }

  async #say(content: readonly InputBlock[], messageId: string | undefined): Promise<void> {
    this.#isHushed = false;
    this.#opening ??= this.#open();
    const program = await this.#opening;
    this.#unsaid--;
    this.#isSaid = true;
    if (!this.#isDropped) program.say(content, messageId);
  }

  #hasStartOptions(): boolean {
    return isDeepStrictEqual(this.#readStartOptions(), this.#startOptions);
  }

  /** The definition or the options of the program have changed: the next message starts a new process. */
  #renew(): void {
    if (hasOpenTurn(this.#options.state, this.#root) || this.#program === undefined) return;
    const reason = 'the definition of the agent was changed, which starts the program again with the next message';
    inBackground(this.#options.dispatch([{ event: { type: 'work_lost', key: MAIN, reason } }]), reportAsWarning);
    inBackground(this.close(), reportAsWarning);
  }

  async #open(): Promise<Program> {
    // Two processes must not continue the same conversation.
    await this.#reading;
    const program = await this.#startUnlessGivenUp();
    this.#program = program;
    this.#isSaid = false;
    this.#steering = unsteeredOf(this.#agent);
    this.#steer(program);
    this.#reading = this.#read(program);
    return program;
  }

  /** Changes a running program. The change takes effect with the next model request. */
  #steer(program: Program): void {
    const wanted = steeringOf(this.#options.state, this.#root);
    steer(program, this.#steering, wanted);
    this.#steering = wanted;
  }

  /** Starts the program unless the start is given up, as it may hang. A program that starts later is closed. */
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
    return await startProgram(this.#options, this.#root, () => {
      this.#startOptions = this.#readStartOptions();
      const resume = this.#isForgetful ? null : this.#root.program.conversation;
      return { resume, startOptions: this.#startOptions };
    });
  }

  get #root(): ThreadState {
    return threadOf(this.#options.state, this.#options.rootId);
  }

  get #agent(): AgentSnapshot {
    return agentOf(this.#options.state, this.#root);
  }

  #readStartOptions(): StartOptions {
    return startOptionsOf(this.#agent.model.id, this.#options.state.metadata);
  }

  /** Bounds the writes that wait for the disk, so that a program with much output does not fill the memory. */
  async #read(program: Program): Promise<void> {
    let isOpened = false;
    for await (const events of program.events) {
      isOpened ||= events.some(({ type }) => type === 'opened');
      // The end of a replaced process ends no turn: turns that began since belong to the new process.
      const isCurrent = this.#program === program;
      const exited = events.find(({ type }) => type === 'exited');
      if (isCurrent && exited?.type === 'exited') this.#forget(isOpened || exited.isWanted || !this.#isSaid);
      await this.#take(isCurrent ? events : events.filter(({ type }) => type !== 'exited'));
      if (isTurnOpen(events)) this.#stopAgain(program);
    }
    await Promise.all(this.#writes);
  }

  #forget(isOpened: boolean): void {
    this.#program = undefined;
    this.#opening = undefined;
    this.#stopTimers.cancel();
    this.#isForgetful = !isOpened && this.#root.program.conversation !== null;
  }

  /** Deltas are written separately, in their order among the other events. */
  async #take(events: readonly ProgramEvent[]): Promise<void> {
    let taken: TakenEvent[] = [];
    let change: WorkspaceChange | undefined;
    const flush = async () => {
      await this.#dispatch(taken, change);
      [taken, change] = [[], undefined];
    };
    for (const event of events) {
      // A call that arrives together with its result is logged first, so that files that it wrote are attributed to it.
      if (this.#options.files !== null && event.type === 'result') await flush();
      const cause = this.#toCause(event);
      if (cause !== undefined) {
        // Files are recorded before the event is decided: messages may arrive in the meantime.
        await flush();
        change = await this.#options.files?.record(cause);
      }
      // Both need the state after the earlier events: a delta, and an event that wakes a session after the event that made it idle.
      if (isDelta(event) || (isWaking(event) && this.#isHushed)) await flush();
      if (isDelta(event)) await this.#deltas.take(event);
      else if (!this.#isUnwanted(event)) taken.push(this.#toTaken(this.#withMessages(event)));
    }
    await flush();
  }

  /** The reason to record files before an event is logged: a turn has ended, or a tool call that may have changed files. */
  #toCause(event: ProgramEvent): RecordCause | undefined {
    const { state, files } = this.#options;
    if (files === null || this.#isDropped) return undefined;
    const thread = findThread(state, this.#root, event.key);
    if (event.type === 'result') {
      const call = findCall(thread, event.callId);
      const isRecorded = thread !== undefined && call !== undefined && toRecordedCall(thread.id, call) !== null;
      return isRecorded ? { type: 'tool', threadId: thread.id, toolUseId: call.id } : undefined;
    }
    return ENDS.has(event.type) ? { type: 'turn', threadId: thread?.id ?? null, isByProgram: true } : undefined;
  }

  /** Begins to record files for calls that the events have begun. The state has these calls. */
  #beginCalls(taken: readonly TakenEvent[]): void {
    const { state, files } = this.#options;
    for (const { event } of files === null ? [] : taken) {
      if (event.type !== 'call') continue;
      const thread = findThread(state, this.#root, event.key);
      const call = findCall(thread, event.callId);
      if (thread !== undefined && call !== undefined) files?.begin(thread.id, call);
    }
  }

  /** A turn that ends while a message waits to be sent to the program is not the turn of that message, which follows. */
  #withMessages(event: TakenEvent['event']): TakenEvent['event'] {
    return event.type === 'turn_ended' && this.#unsaid > 0 ? { ...event, isMoreToCome: true } : event;
  }

  /**
   * After an interrupt, reports of stopped sub-agents must not begin a turn, but the program reads them in a turn of
   * its own. Such a turn is not begun in the session, and is stopped in the program.
   */
  #isUnwanted(event: ProgramEvent): boolean {
    const { state } = this.#options;
    if (event.type === 'thread_ended') {
      this.#isHushed ||= findThread(state, this.#root, event.key)?.turn?.stopping?.isReported === false;
    }
    return isWaking(event) && this.#isHushed && this.#root.turn === null;
  }

  /** Later events are decided on the state in memory, so writes are waited for only if there are too many. */
  async #dispatch(taken: readonly TakenEvent[], change?: WorkspaceChange): Promise<void> {
    if ((taken.length === 0 && change === undefined) || this.#isDropped) return;
    const write: Promise<void> = this.#options.dispatch(taken, change).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
    this.#beginCalls(taken);
    if (this.#writes.size >= sessionLimits.programWritesMax) await this.#writes.values().next().value;
  }

  #toTaken(event: TakenEvent['event']): TakenEvent {
    if (event.type === 'block_ended') return { event, id: this.#deltas.end(event) };
    if (event.type === 'result') this.#deltas.endOutput(event);
    if (event.type !== 'request_ended') return { event };
    const { costNanoUsd } = this.#options;
    return { event, costNanoUsd: costNanoUsd(event.model, event.usage, this.#agent.model.speed) };
  }

  #perform(frame: NewSessionFrame): void {
    const { type, payload, threadId } = frame;
    if ('not_applied' in payload && payload.not_applied !== undefined) return;
    const { state } = this.#options;
    const thread = threadId === null ? undefined : state.threads.get(threadId);
    const program = this.#program;
    if (thread === undefined || rootOf(state, thread) !== this.#root) return;
    if (type === 'turn.stopping') this.#stopTimers.watch(thread.id, frame.turn);
    if (program === undefined) return;
    if (type === 'session.thread_status_terminated') this.#end(thread, program);
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
    } else if (type === 'agent.tool_result') {
      const call = thread.calls.get(payload.tool_use_id);
      const { content, is_error: isError } = payload;
      if (call !== undefined && isDelegationName(call.name)) program.giveResult(call.callId, { content, isError });
    }
  }

  /** Ends an archived thread: the program of a roster member, or a single sub-agent. */
  #end(thread: ThreadState, program: Program): void {
    if (thread === this.#root && thread.parentId !== null) inBackground(this.close(), reportAsWarning);
    else if (thread.programKey !== null && this.#root.status !== 'terminated') program.stopThread(thread.programKey);
  }

  /** Interrupts a turn that was stopped before it began, or that begins on its own after everything was stopped. */
  #stopAgain(program: Program): void {
    const { turn } = this.#root;
    if (turn === null ? this.#isHushed : turn.stopping !== null) program.interrupt();
  }

  /** Ends a program that does not stop, or has not started, in time: work that is logged as being stopped must not continue. */
  #endOverdue(): void {
    if (this.#program === undefined) this.#giveUpStart();
    else inBackground(this.#program.close({ isOverdue: true }), reportAsWarning);
  }
}

/** Events that may mark the end of a process that changed files without a tool result. */
const ENDS = new Set<string>(['turn_ended', 'thread_ended', 'work_ended', 'exited']);

/** Whether an event of a program that has ended is logged. The session delegates only for a program that runs. */
function isDone(event: ProgramEvent): boolean {
  return !(event.type === 'call' && event.tool.kind === 'custom' && isDelegationName(event.tool.toolName));
}
