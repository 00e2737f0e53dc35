import { Signal } from '../../stores/signal.ts';

/** Selection, filters and view of the Changes tab. */
class ChangesPage {
  readonly changed = new Signal();
  sessionId: string | undefined;
  threadId: string | undefined;
  turn: string | undefined;
  path: string | undefined;
  view: 'diff' | 'file' = 'diff';
  isSideBySide = false;
  /** Whether every file of the moment shown is listed, not only changed files. */
  isWholeTree = false;
  /** Files to apply; empty for all files. */
  readonly chosen = new Set<string>();
  /** Directories of the tree whose files are hidden. */
  closed: ReadonlySet<string> = new Set();
  /** A counter that grows when the changes must be loaded again. */
  reloads = 0;
  #paths: readonly string[] = [];

  /** Resets the state for another session. */
  show(sessionId: string): void {
    if (this.sessionId === sessionId) return;
    this.chosen.clear();
    this.closed = new Set();
    const fresh = { threadId: undefined, turn: undefined, path: undefined, view: 'diff', isWholeTree: false } as const;
    this.set({ ...fresh, sessionId });
  }

  set(
    change: Partial<
      Pick<ChangesPage, 'threadId' | 'turn' | 'path' | 'view' | 'isSideBySide' | 'isWholeTree' | 'sessionId'>
    >,
  ): void {
    Object.assign(this, change);
    this.changed.emit();
  }

  choose(paths: readonly string[], isChosen: boolean): void {
    for (const path of paths) {
      if (isChosen) this.chosen.add(path);
      else this.chosen.delete(path);
    }
    this.changed.emit();
  }

  toggleDirectory(path: string): void {
    const closed = new Set(this.closed);
    if (!closed.delete(path)) closed.add(path);
    this.closed = closed;
    this.changed.emit();
  }

  /** Stores the files of the tree, in its order. */
  list(paths: readonly string[]): void {
    this.#paths = paths;
  }

  /** Selects the next or previous file of the tree. */
  move(by: 1 | -1): void {
    const index = this.path === undefined ? 0 : this.#paths.indexOf(this.path);
    const path = this.#paths[Math.max(0, Math.min(this.#paths.length - 1, index + by))];
    if (path !== undefined) this.set({ path });
  }

  reload(): void {
    this.reloads += 1;
    this.chosen.clear();
    this.changed.emit();
  }
}

/** The Changes tab of this browser tab. */
export const changesPage = new ChangesPage();
