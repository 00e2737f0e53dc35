import type { ReactNode } from 'react';
import { ui } from '../stores/stores.ts';
import { Modal } from './Modal.tsx';

interface FormDialogProps {
  readonly label: string;
  readonly onSubmit: () => void;
  /** The button that submits the form. */
  readonly submit?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A dialog with a form, a button to cancel and one to submit. Enter with the command key submits it from every field. */
export function FormDialog({ label, onSubmit, submit, className = '', children }: FormDialogProps) {
  return (
    <Modal label={label} className={`message-dialog ${className}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
          event.preventDefault();
          // Does nothing while the form cannot be submitted, because its button is then disabled.
          event.currentTarget.querySelector<HTMLButtonElement>('button[type=submit]:enabled')?.click();
        }}
      >
        {children}
        <footer>
          <button type="button" onClick={() => ui.closeDialog()}>
            Cancel <kbd>Esc</kbd>
          </button>
          {submit}
        </footer>
      </form>
    </Modal>
  );
}
