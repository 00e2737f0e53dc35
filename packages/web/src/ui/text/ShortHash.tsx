import { useCopy } from './use-copy.ts';

/** The first characters of a hash, enough to compare two by eye; a click copies the whole hash. */
export function ShortHash({ hash, of }: { hash: string; of: string }) {
  const { isCopied, copy } = useCopy(hash);
  return (
    <button
      type="button"
      className="short-hash"
      title={`SHA-256 of ${of}: ${hash}`}
      aria-label={`Copy the SHA-256 of ${of}: ${hash.slice(0, SHOWN)}`}
      onClick={copy}
    >
      {isCopied ? 'copied' : hash.slice(0, SHOWN)}
    </button>
  );
}

const SHOWN = 8;
