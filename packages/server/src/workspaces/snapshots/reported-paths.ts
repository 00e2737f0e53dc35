import type { DirectoryRecorder } from './directory-recorder.ts';
import type { NotRecorded } from './not-recorded.ts';
import type { BytePath } from './objects/path-text.ts';

/** The paths that are not recorded, and which of them were reported already. */
export class ReportedPaths {
  #reported = new Map<BytePath, string>();
  #ignored: ReadonlyMap<BytePath, string> | undefined;
  #newIgnored: readonly NotRecorded[] = [];

  /** Finds ignored paths that are new or have changed since the last call. The paths of the first call are not reported. */
  async addIgnored(recorder: Pick<DirectoryRecorder, 'findIgnored'>): Promise<void> {
    const found = await recorder.findIgnored();
    found.delete('.fleetloom/');
    const before = this.#ignored;
    this.#ignored = found;
    const changed = [...found].filter(([path, stamp]) => before !== undefined && before.get(path) !== stamp);
    this.#newIgnored = changed.map(([path]) => ({ path, reason: 'ignored' }));
  }

  /**
   * All paths that are not recorded, if one of them is new or has changed since it was reported; otherwise undefined.
   * `isWhole`: the record examined all paths, so all other paths are recorded or gone.
   */
  take(paths: readonly NotRecorded[], { isWhole }: { readonly isWhole: boolean }): readonly NotRecorded[] | undefined {
    const found = [...paths, ...this.#newIgnored];
    this.#newIgnored = [];
    const isNew = found.some((each) => this.#reported.get(each.path) !== toMark(each));
    if (isWhole) this.#reported = new Map();
    for (const each of found) if (each.reason !== 'ignored') this.#reported.set(each.path, toMark(each));
    return isNew ? found : undefined;
  }
}

function toMark({ reason, stamp = '' }: NotRecorded): string {
  return `${reason} ${stamp}`;
}
