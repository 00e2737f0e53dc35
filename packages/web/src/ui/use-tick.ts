import { useEffect, useState } from 'react';

/** Renders the component again at this interval, so that ages and rates stay current without an event. */
export function useTick(ms: number): void {
  const [, set] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => set((count) => count + 1), ms);
    return () => clearInterval(timer);
  }, [ms]);
}
