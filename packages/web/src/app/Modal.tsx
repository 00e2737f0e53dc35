import { type ReactNode, useEffect, useRef } from 'react';
import { ui } from './stores.ts';

/** A dialog above everything. Escape and a click beside it close it; the keys behind it rest. */
export function Modal({ label, children, className = '' }: { label: string; children: ReactNode; className?: string }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const close = () => ui.set({ dialog: undefined });
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
