import type { Store } from '../store.ts';
import type { Write } from '../write.ts';

/** A store whose commits wait until a test lets them through, or fail when it says so. */
export function gateStore(store: Store) {
  const commits: { writes: readonly Write[]; pass: () => void; fail: (error: Error) => void }[] = [];
  let isOpen = true;
  const gated: Store = {
    ...store,
    commit: async (writes) => {
      if (!isOpen) {
        await new Promise<void>((pass, fail) => commits.push({ writes, pass, fail }));
      }
      return store.commit(writes);
    },
  };
  return {
    store: gated,
    commits,
    shut: () => (isOpen = false),
    open: () => {
      isOpen = true;
      for (const { pass } of commits.splice(0)) pass();
    },
  };
}
