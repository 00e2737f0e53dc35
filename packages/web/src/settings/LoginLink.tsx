import { useState } from 'react';
import { plural } from '../model/format.ts';
import { api } from '../stores/connection/api.ts';
import { inBackground } from '../stores/connection/in-background.ts';
import { CopyLine } from '../ui/text/CopyLine.tsx';

/** Creates a link that signs one other browser in, once. */
export function LoginLink({ linkMs }: { linkMs: number | undefined }) {
  const [link, setLink] = useState('');
  const [problem, setProblem] = useState('');
  const create = async () => {
    try {
      const { path } = await api.post<{ path: string }>('v1/login_links', {});
      setLink(new URL(path, location.origin).href);
      setProblem('');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <p>
        A login link opens the dashboard on a phone or another computer with your rights. It works once
        {linkMs === undefined ? '' : `, within ${plural(linkMs / 60_000, 'minute')}`}. Treat it like a password. Once
        this browser signs out, the other one is signed out as well.
      </p>
      <button type="button" className="primary" onClick={() => inBackground(create())}>
        {link === '' ? 'Create a login link' : 'Create another one'}
      </button>
      {problem !== '' && (
        <p className="fault" role="alert">
          {problem}
        </p>
      )}
      {link !== '' && <CopyLine text={link} />}
      {LOOPBACK.test(location.hostname) && (
        <p className="quiet">
          This page is open at {location.hostname}, which only this machine reaches. For another device, open the
          dashboard at an address of your network, a tunnel or a proxy, and create the link there.
        </p>
      )}
    </>
  );
}

const LOOPBACK = /^(?:localhost|127\..*|\[::1\])$/;
