import { formatNumber } from '../model/format.ts';

/** Added and removed lines: `+10 −2`, or `binary` for a file that is not text. */
export function LineCounts({ added, removed }: { added: number | null; removed: number | null }) {
  if (added === null || removed === null) return <span className="line-counts quiet">binary</span>;
  return (
    <span className="line-counts">
      <span data-count="added">+{formatNumber(added)}</span> <span data-count="removed">−{formatNumber(removed)}</span>
    </span>
  );
}
