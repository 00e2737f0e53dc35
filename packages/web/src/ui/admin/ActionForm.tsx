import type { FleetScope } from '@fleetloom/protocol/fleet';
import type { ReactNode } from 'react';
import { mayDo } from '../../stores/rights.ts';
import { useAction } from './use-action.ts';

interface ActionFormProps {
  readonly name: string;
  /** The label of the submit button. */
  readonly submit: string;
  readonly needs: FleetScope;
  /** Receives the fields by name. Secrets exist only in the form's fields, and the caller removes the form after success. */
  readonly onSubmit: (fields: FormData) => Promise<void>;
  readonly onCancel?: () => void;
  readonly children: ReactNode;
}

/** A form of an administration page. If the server rejects it, the form shows the reason and keeps the typed text. */
export function ActionForm({ name, submit, needs, onSubmit, onCancel, children }: ActionFormProps) {
  const { isBusy, problem, run } = useAction();
  return (
    <form
      data-needs={needs}
      className="admin-form"
      aria-label={name}
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        if (mayDo(needs) && !isBusy) run(() => onSubmit(fields));
      }}
    >
      <h2>{name}</h2>
      {children}
      {problem !== '' && (
        <p className="fault" role="alert">
          {problem}
        </p>
      )}
      <footer className="card-actions">
        <button type="submit" className="primary" disabled={isBusy}>
          {isBusy ? 'Sending …' : submit}
        </button>
        {onCancel !== undefined && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </footer>
    </form>
  );
}

/** The text of a field without spaces around it; undefined if it is empty. */
export function textOf(fields: FormData, name: string): string | undefined {
  const value = fields.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** A secret exactly as it was typed. */
export function secretOf(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value : '';
}

/** The words of a field, separated by commas, spaces or lines. */
export function listOf(fields: FormData, name: string): readonly string[] {
  return (textOf(fields, name) ?? '').split(/[\s,]+/).filter((word) => word !== '');
}
