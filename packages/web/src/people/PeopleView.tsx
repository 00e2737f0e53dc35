import { useState } from 'react';
import { RoleLink } from './RoleLink.tsx';
import { Logins } from './Logins.tsx';

/** The browsers that are signed in to the workspace, and links that sign other browsers in. */
export function PeopleView() {
  const [reads, setReads] = useState(0);
  return (
    <div className="settings admin">
      <header className="settings-head">
        <h1>People</h1>
        <button type="button" onClick={() => setReads(reads + 1)}>
          Reload
        </button>
      </header>
      <p className="quiet">
        Who opens this workspace in a browser, with which role. A login that is ended is refused within a second.
      </p>
      <section aria-label="Signed-in browsers">
        <h2>Signed in</h2>
        <div className="settings-body">
          <Logins key={reads} />
        </div>
      </section>
      <section aria-label="Login links">
        <h2>Login links</h2>
        <div className="settings-body">
          <RoleLink />
        </div>
      </section>
    </div>
  );
}
