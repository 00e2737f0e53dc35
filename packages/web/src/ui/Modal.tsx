import { type ReactNode, useEffect, useRef } from 'react';
import { ui } from '../stores/stores.ts';

/** A modal dialog. Escape or a click outside closes it; page keys are off while it is open. */
export function Modal({ label, children, className = '' }: { label: string; children: ReactNode; className?: string }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    // The focus is on the first control, which may be below the text that the user should read first.
    if (dialog !== null) dialog.scrollTop = 0;
    return () => dialog?.close();
  }, []);
  const close = () => ui.closeDialog();
  return (
    <dialog
      ref={ref}
      aria-label={label}
      className={className}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClick={(event) => {
        if (event.target === ref.current) close();
      }}
    >
      {children}
    </dialog>
  );
}
