import { useCopy } from './use-copy.ts';

/** A command, an id or a program, with a button that copies it. */
export function CopyLine({ text }: { text: string }) {
  const { isCopied, copy } = useCopy(text);
  return (
    <div className="copy-line">
      <pre tabIndex={0} aria-label="To copy">
        {text}
      </pre>
      <button type="button" onClick={copy}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
