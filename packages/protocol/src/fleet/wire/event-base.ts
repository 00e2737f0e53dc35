/** The fields of every event. */
export interface FleetEventBase {
  /** The position after this event, from which a reader resumes. It grows with every event; `''` if the wire had none. */
  readonly cursor: string;
  /** The session of the event. Always present on streams of several sessions. */
  readonly session_id?: string;
  /** The number of the event's frame in the session's log; null where the wire had none. */
  readonly seq: number | null;
  /** When the event happened, in milliseconds since 1970; null where the wire had none. */
  readonly ts: number | null;
}

/** The fields of every event of a turn. */
export interface StreamEventBase extends FleetEventBase {
  /** The turn, unique within its run. */
  readonly stream_id: number;
  /** 0 for the coordinator, 1 for the agents it delegates to, 2 for their delegates. */
  readonly depth: number;
  /** The name of the agent. */
  readonly agent: string;
  /** The thread of the turn; null where the wire had none. */
  readonly thread_id: string | null;
}
