import type { ReactNode } from 'react';
import { CopyLine } from '../text/CopyLine.tsx';

/** A secret that the server returns only once, shown until the user confirms that it is stored. */
export function NewSecret({ label, secret, onDone, children }: NewSecretProps) {
  return (
    <section className="new-secret" aria-label={label} role="status">
      <p>{children}</p>
      <CopyLine text={secret} />
      <button type="button" onClick={onDone}>
        I have stored it
      </button>
    </section>
  );
}

interface NewSecretProps {
  readonly label: string;
  readonly secret: string;
  readonly onDone: () => void;
  readonly children: ReactNode;
}
