import { AgentsView } from '../agents/AgentsView.tsx';
import { FleetView } from '../fleet/FleetView.tsx';
import { InboxView } from '../inbox/InboxView.tsx';
import { Help } from '../keys/Help.tsx';
import { Palette } from '../keys/Palette.tsx';
import { AgainDialog } from '../thread/AgainDialog.tsx';
import { ExportDialog } from '../thread/ExportDialog.tsx';
import { FindDialog } from '../thread/FindDialog.tsx';
import { ThreadView } from '../thread/ThreadView.tsx';
import { Announcer } from './Announcer.tsx';
import { InterruptDialog } from './InterruptDialog.tsx';
import { MessageDialog } from './MessageDialog.tsx';
import { NoticeDialog } from './NoticeDialog.tsx';
import { ReplayBar } from './ReplayBar.tsx';
import { useSignal } from './signal.ts';
import { ui } from './stores.ts';
import { TopBar } from './TopBar.tsx';

export function App() {
  useSignal(ui.changed);
  const { route, dialog, notice } = ui;
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <TopBar view={route.view} />
      <ReplayBar />
      <main id="main" tabIndex={-1}>
        {route.view === 'fleet' && <FleetView />}
        {route.view === 'inbox' && <InboxView />}
        {route.view === 'thread' && <ThreadView route={route} />}
        {route.view === 'agents' && <AgentsView selectedId={route.sessionId} />}
      </main>
      {notice !== undefined && (
        <div className="notice" role="status" data-problem={notice.isProblem}>
          {notice.text}
        </div>
      )}
      {dialog?.type === 'palette' && <Palette />}
      {dialog?.type === 'help' && <Help />}
      {dialog?.type === 'notices' && <NoticeDialog />}
      {dialog?.type === 'export' && <ExportDialog sessionId={dialog.sessionId} />}
      {dialog?.type === 'again' && <AgainDialog sessionId={dialog.sessionId} />}
      {dialog?.type === 'find' && <FindDialog sessionId={dialog.sessionId} />}
      {dialog?.type === 'message' && <MessageDialog dialog={dialog} />}
      {dialog?.type === 'interrupt' && <InterruptDialog dialog={dialog} />}
      <Announcer />
    </>
  );
}
