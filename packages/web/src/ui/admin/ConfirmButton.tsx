import type { FleetScope } from '@fleetloom/protocol/fleet';
import { useState } from 'react';
import { mayDo } from '../../stores/rights.ts';
import { useAction } from './use-action.ts';

interface ConfirmButtonProps {
  readonly label: string;
  /** The question that is shown before the action. */
  readonly question: string;
  readonly confirm: string;
  readonly needs: FleetScope;
  /** The subject of the action, for screen readers. */
  readonly of: string;
  readonly run: () => Promise<void>;
}

/** A button for an action that cannot be undone. It asks for a confirmation first. */
export function ConfirmButton({ label, question, confirm, needs, of, run }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  if (!isAsking) {
    return (
      <button data-needs={needs} type="button" aria-label={`${label} ${of}`} onClick={() => setAsking(true)}>
        {label}
      </button>
    );
  }
  return (
    <span data-needs={needs} className="confirm" role="group" aria-label={`${label} ${of}`}>
      <span>{question}</span>
      <button
        type="button"
        className="danger"
        disabled={action.isBusy}
        onClick={() => {
          if (mayDo(needs)) action.run(run);
        }}
      >
        {confirm}
      </button>
      <button type="button" onClick={() => setAsking(false)}>
        Keep it
      </button>
      {action.problem !== '' && (
        <span className="fault" role="alert">
          {action.problem}
        </span>
      )}
    </span>
  );
}
