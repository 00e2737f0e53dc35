import type { BytePath } from './objects/path-text.ts';

/** A tool call that may change files. */
export interface RecordedCall {
  readonly threadId: string;
  readonly toolUseId: string;
  /** The only files that the call writes, as named in its input. Null if it may write any file. */
  readonly paths: readonly string[] | null;
}

/** Attributes recorded changes to calls. */
export interface Attribution {
  /** The calls that may have changed these files. */
  callsOf(files: readonly BytePath[]): readonly RecordedCall[];
  /** Called when the record is complete: later changes are not attributed to calls that ended before it. */
  finish(): void;
}

interface Interval {
  readonly call: RecordedCall;
  /** Undefined while the call is running. */
  endedAt?: number;
  /** The only files that the call has written. Null: possibly any file; undefined: not known yet. */
  files?: readonly BytePath[] | null;
}

/**
 * The tool calls that were running at some moment since the last record of the whole workspace. A change that a record finds
 * was made by one of them, or by a process that outlived its call. If several calls overlap, all are named.
 */
export class CallIntervals {
  readonly #intervals = new Map<string, Interval>();
  #now = 0;

  begin(call: RecordedCall): void {
    this.#intervals.set(call.toolUseId, { call, ...(call.paths === null ? { files: null } : {}) });
  }

  end(toolUseId: string): void {
    const interval = this.#intervals.get(toolUseId);
    if (interval !== undefined) interval.endedAt = ++this.#now;
  }

  /** Whether a call is running. */
  get isOpen(): boolean {
    return [...this.#intervals.values()].some(({ endedAt }) => endedAt === undefined);
  }

  find(toolUseId: string): RecordedCall | undefined {
    return this.#intervals.get(toolUseId)?.call;
  }

  /** Sets the only files that the call has written; null if it may have written any file. */
  setFiles(toolUseId: string, files: readonly BytePath[] | null): void {
    const interval = this.#intervals.get(toolUseId);
    if (interval !== undefined) interval.files = files;
  }

  /** Called when a record of the whole workspace begins. Calls that ended before it cannot have made later changes. */
  startScan(): Attribution {
    const startedAt = ++this.#now;
    return this.#start(({ endedAt }) => (endedAt ?? Number.POSITIVE_INFINITY) < startedAt);
  }

  /** Called when a record of only the files that these calls wrote begins. */
  startPaths(toolUseIds: ReadonlySet<string>): Attribution {
    return this.#start(({ call }) => toolUseIds.has(call.toolUseId));
  }

  #start(isOver: (interval: Interval) => boolean): Attribution {
    const intervals = [...this.#intervals.values()];
    return {
      callsOf: (files) => {
        const changed = new Set(files);
        return intervals.filter((interval) => mayHaveWritten(interval, changed)).map(({ call }) => call);
      },
      finish: () => {
        for (const interval of intervals) if (isOver(interval)) this.#intervals.delete(interval.call.toolUseId);
      },
    };
  }
}

function mayHaveWritten({ files }: Interval, changed: ReadonlySet<BytePath>): boolean {
  return files?.some((file) => changed.has(file)) ?? true;
}
