import type { Draft } from './story.ts';

/** Text of model requests that grows before it is a block, and that is all there is of it where the request fails. */
export class LogDrafts {
  readonly all = new Map<string, Draft[]>();
  /** By thread and by the id of the block. */
  readonly #growing = new Map<string, Map<string, Pick<Draft, 'kind' | 'text'>>>();

  grow(key: string, id: string, kind: Draft['kind'], text: string): void {
    const blocks = this.#growing.get(key) ?? new Map<string, Pick<Draft, 'kind' | 'text'>>();
    this.#growing.set(key, blocks);
    blocks.set(id, { kind, text: (blocks.get(id)?.text ?? '') + text });
  }

  /** It is a block now. */
  settle(key: string, id: string): void {
    this.#growing.get(key)?.delete(id);
  }

  /** The request is over, behind so many items of the thread. */
  end(key: string, at: number, isFailed: boolean): void {
    const left = [...(this.#growing.get(key)?.values() ?? [])];
    this.#growing.delete(key);
    if (isFailed) this.all.set(key, [...(this.all.get(key) ?? []), ...left.map((draft) => ({ ...draft, at }))]);
  }

  /** The request is made again: what it said is taken back, and thoughts stay as they are. */
  retry(key: string): void {
    const drafts = this.all.get(key) ?? [];
    this.all.set(
      key,
      drafts.filter(({ kind }) => kind === 'thinking'),
    );
  }
}
