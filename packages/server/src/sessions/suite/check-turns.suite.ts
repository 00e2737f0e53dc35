import { sessionLimits } from '../core/limits.ts';
import { toolLimits } from '../../tools/limits.ts';
import type { SessionFrame } from '../../frames/frames.ts';
import type { Complain } from './check-log.suite.ts';

interface KnownThread {
  readonly parentId: string | null;
  readonly depth: number;
  status: 'idle' | 'running' | 'rescheduled' | 'terminated';
  /** Its open turn. */
  stream: string | null;
  /** When its turn was interrupted. */
  stoppingAt: number | null;
}

/** Checks the runs, turns and statuses of a log. */
export class LogTurns {
  readonly #threads = new Map<string, KnownThread>();
  /** The thread of every turn that was started, by run and number. */
  readonly #started = new Map<string, string>();
  readonly #runs = new Set<string>();
  #run: { readonly id: string; streams: number } | null = null;
  #before: SessionFrame | undefined;
  #isRunning = false;

  take(frame: SessionFrame, complain: Complain): void {
    const { type, payload, threadId, turn } = frame;
    this.#checkBefore(frame, complain);
    this.#before = frame;
    if (type === 'session.created') this.#add(payload.primary_thread_id, null, 0);
    const thread = threadId === null ? undefined : this.#threads.get(threadId);
    if (threadId !== null && thread === undefined) return complain(`unknown thread ${threadId}`);
    if (type === 'run.started') this.#startRun(turn!.run, complain);
    if (type === 'turn.started') this.#startTurn(thread!, frame, complain);
    this.#checkPlace(frame, thread, complain);
    if (type === 'session.thread_created') {
      if (payload.depth !== thread!.depth + 1) complain(`has depth ${payload.depth} below one of ${thread!.depth}`);
      if (this.#threads.has(payload.session_thread_id)) complain('the thread is there already');
      this.#add(payload.session_thread_id, threadId, payload.depth);
    }
    if (type === 'turn.stopping') thread!.stoppingAt ??= frame.time;
    if (type === 'turn.ended') this.#endTurn(thread!, frame.time, complain);
    if (type === 'run.ended') this.#endRun(turn!.run, complain);
    if (type.startsWith('session.thread_status_')) this.#setStatus(thread!, type, complain);
    if (type === 'session.status_idle') this.#checkIdle(complain);
    if (type.startsWith('session.status_')) this.#isRunning = type === 'session.status_running';
  }

  /** Checks the frame right before another one. */
  #checkBefore({ type, payload, threadId }: SessionFrame, complain: Complain): void {
    const before = this.#before;
    // A reader may stop when the session is idle: only an event from outside makes it run again.
    if (before?.type === 'session.status_idle' && WORK.test(type)) complain('follows right after session.status_idle');
    const isCounted = before?.type === 'session.usage';
    if (isCounted !== (type === 'session.status_idle')) complain('session.usage and session.status_idle are apart');
    if (before?.type === 'agent.thread_message_sent') {
      const { to_session_thread_id: to } = before.payload;
      const isReceived = type === 'agent.thread_message_received' && threadId === to;
      if (!isReceived && this.#threads.get(to)?.status !== 'terminated')
        complain(`no thread received the message to ${to}`);
    } else if (
      type === 'agent.thread_message_received' &&
      this.#threads.get(payload.from_session_thread_id)?.stream !== null
    ) {
      // A message that a program delivers after the turn that sent it is not sent again.
      complain(`no thread sent the message of ${payload.from_session_thread_id}`);
    }
  }

  #add(id: string, parentId: string | null, depth: number): void {
    this.#threads.set(id, { parentId, depth, status: 'idle', stream: null, stoppingAt: null });
  }

  #startRun(id: string, complain: Complain): void {
    if (this.#run !== null) complain(`the run ${this.#run.id} has not ended`);
    if (this.#runs.has(id)) complain('there was such a run before');
    if (this.#isRunning) complain('the session runs already');
    this.#runs.add(id);
    this.#run = { id, streams: 0 };
  }

  #endRun(id: string, complain: Complain): void {
    if (this.#run?.id !== id) complain('it was not the open run');
    for (const [threadId, { stream }] of this.#threads) if (stream !== null) complain(`${threadId} is still in a turn`);
    this.#run = null;
  }

  #startTurn(thread: KnownThread, { threadId, turn, payload }: SessionFrame, complain: Complain): void {
    const { streamId, run, depth } = turn!;
    if (this.#run?.id !== run) return complain('its run is not open');
    if (streamId !== this.#run.streams) complain(`has the number ${streamId} where ${this.#run.streams} comes next`);
    if (depth !== thread.depth) complain(`has depth ${depth} in a thread of ${thread.depth}`);
    if (thread.stream !== null) complain('the turn before it has not ended');
    const { parent_stream_id: parent } = payload as { parent_stream_id: number | null };
    if (parent !== null && this.#started.get(toKey(run, parent)) !== thread.parentId)
      complain('its parent is another thread');
    this.#run.streams++;
    thread.stream = toKey(run, streamId);
    this.#started.set(thread.stream, threadId!);
  }

  #endTurn(thread: KnownThread, time: number, complain: Complain): void {
    const stopMs = thread.stoppingAt === null ? 0 : time - thread.stoppingAt;
    if (stopMs > STOP_MS_MAX) complain(`took ${stopMs} ms to stop`);
    thread.stream = null;
    thread.stoppingAt = null;
  }

  /** Frames of a turn are between its start and its end. */
  #checkPlace(
    { type, payload, threadId, turn }: SessionFrame,
    thread: KnownThread | undefined,
    complain: Complain,
  ): void {
    // A thread that ended on its own can still be archived.
    const isPutAway = type === 'session.thread_status_terminated' && payload.is_archived;
    const isLateAnswer = 'not_applied' in payload && payload.not_applied !== undefined;
    const isAllowed = type === 'user.interrupt' || isPutAway || isLateAnswer;
    if (thread?.status === 'terminated' && !isAllowed) complain('its thread is terminated');
    if (type === 'run.started' || type === 'run.ended') return;
    const key = turn === null ? null : toKey(turn.run, turn.streamId);
    if (key !== null && this.#started.get(key) !== threadId) return complain('is in a turn of another thread');
    if (key !== null && thread?.stream !== key) return complain('is in a turn that is not open');
    if (key === null && thread?.stream !== null && thread !== undefined) complain('is not in the open turn');
    const needsTurn = /^(?:delta|span|tool|turn|agent)\./.test(type) && type !== 'agent.thread_message_received';
    const isWork = type === 'span.model_request_start' || type === 'tool.started';
    if (isWork && thread?.status !== 'running') complain(`its thread is ${thread?.status}`);
    if (key === null && needsTurn && type !== 'turn.flushed') complain('is in no turn');
  }

  #setStatus(thread: KnownThread, type: string, complain: Complain): void {
    // The end of the name is the status, which the caller has looked at.
    const status = type.slice('session.thread_status_'.length) as KnownThread['status'];
    if (status === thread.status && (status === 'running' || status === 'rescheduled'))
      complain(`it was ${status} already`);
    if (status === 'terminated' && thread.stream !== null) complain('its turn has not ended');
    if ((status === 'running' || status === 'rescheduled') && thread.stream === null) complain('it has no turn');
    if (status === 'running' && !this.#isRunning) complain('the session does not run');
    thread.status = status;
  }

  #checkIdle(complain: Complain): void {
    for (const [id, { status }] of this.#threads) {
      if (status === 'running' || status === 'rescheduled') complain(`${id} is ${status}`);
    }
    const isOpen = [...this.#threads.values()].some(({ stream }) => stream !== null);
    if (!isOpen && this.#run !== null) complain('the run has not ended');
  }
}

/** How long a turn may take to stop: the wait for a tool, and for the next owner if the owner dies. */
const STOP_MS_MAX = toolLimits.toolStopMsMax + sessionLimits.leaseMs + 2 * sessionLimits.hostTickMs;

const WORK =
  /^(?:delta\.|span\.|tool\.|session\.error|agent\.(?:message|thinking|block|tool_use|mcp_tool_use|custom_tool_use))/;

function toKey(run: string, streamId: number): string {
  return `${run}/${streamId}`;
}
