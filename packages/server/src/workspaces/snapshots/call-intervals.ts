import type { BytePath } from './objects/path-text.ts';

/** A tool call that may change files. */
export interface RecordedCall {
  readonly threadId: string;
  readonly toolUseId: string;
  /** The only files that it writes, as its input names them. Null: it may write any file. */
  readonly paths: readonly string[] | null;
}

/** Which calls a recorded change belongs to. */
export interface Attribution {
  /** The calls that may have changed these files. */
  callsOf(files: readonly BytePath[]): readonly RecordedCall[];
  /** The record is complete: changes that it saw are not attributed again. */
  finish(): void;
}

interface Interval {
  readonly call: RecordedCall;
  /** Undefined while the call is running. */
  endedAt?: number;
  /** The only files that it has written. Null: any file; undefined: not known yet. */
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

  /** The call has written these files, and no others. */
  setFiles(toolUseId: string, files: readonly BytePath[] | null): void {
    const interval = this.#intervals.get(toolUseId);
    if (interval !== undefined) interval.files = files;
  }

  /** A record of the whole workspace begins. Calls that ended before it cannot have made later changes. */
  startScan(): Attribution {
    const startedAt = ++this.#now;
    return this.#start(({ endedAt }) => (endedAt ?? Number.POSITIVE_INFINITY) < startedAt);
  }

  /** A record of the files that these calls wrote begins. */
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
