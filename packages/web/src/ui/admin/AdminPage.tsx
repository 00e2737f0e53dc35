import './admin.css';
import type { ReactNode } from 'react';
import { ApiError } from '../../stores/connection/api.ts';
import type { Loaded } from '../use-loaded.ts';

interface AdminPageProps<Value> {
  readonly name: string;
  readonly about: string;
  readonly loaded: Loaded<Value>;
  readonly reload: () => void;
  readonly actions?: ReactNode;
  readonly children: (value: Value) => ReactNode;
}

/** The frame of a page about records of the server: its title, and the loaded value, the loading state or the error. */
export function AdminPage<Value>({ name, about, loaded, reload, actions, children }: AdminPageProps<Value>) {
  const { value, problem, isLoading } = loaded;
  return (
    <div className="settings admin" aria-busy={isLoading}>
      <header className="settings-head">
        <h1>{name}</h1>
        <span className="admin-actions">
          {actions}
          <button type="button" onClick={reload} disabled={isLoading}>
            {isLoading ? 'Loading …' : 'Reload'}
          </button>
        </span>
      </header>
      <p className="quiet">{about}</p>
      {problem !== undefined && (
        <p className="fault" role="alert">
          {describeProblem(problem)}
        </p>
      )}
      {value === undefined && problem === undefined && <p className="no-rows">Loading …</p>}
      {value !== undefined && children(value)}
    </div>
  );
}

/** Why a value could not be loaded, and what to do. */
export function describeProblem(problem: unknown): string {
  if (problem instanceof ApiError && problem.status === 403) return `Your login may not read this: ${problem.message}`;
  if (problem instanceof ApiError) return `The server answered: ${problem.message}`;
  return 'The server does not answer. Nothing is lost: reload when the connection is back.';
}
