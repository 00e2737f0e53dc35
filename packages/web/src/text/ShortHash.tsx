import { useState } from 'react';

/** The beginning of a hash, by which people compare; a click copies all of it. */
export function ShortHash({ hash, of }: { hash: string; of: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(hash).catch(() => undefined);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button
      type="button"
      className="short-hash"
      title={`SHA-256 of ${of}: ${hash}`}
      aria-label={`Copy the SHA-256 of ${of}: ${hash.slice(0, SHOWN)}`}
      onClick={() => void copy()}
    >
      {isCopied ? 'copied' : hash.slice(0, SHOWN)}
    </button>
  );
}

const SHOWN = 8;
