import { MessageDialog } from '../ui/MessageDialog.tsx';
import { InterruptDialog } from '../ui/InterruptDialog.tsx';
import { ApplyDialog } from '../session/changes/ApplyDialog.tsx';
import { DiscardDialog } from '../session/changes/DiscardDialog.tsx';
import { RestoreDialog } from '../session/changes/RestoreDialog.tsx';
import { ExportDialog } from '../session/export/ExportDialog.tsx';
import { FindDialog } from '../session/find/FindDialog.tsx';
import { ForkDialog } from '../session/fork/ForkDialog.tsx';
import { useSignal } from '../stores/signal.ts';
import { ui } from '../stores/stores.ts';
import type { Dialog } from '../stores/ui-store.ts';
import { Announcer } from './Announcer.tsx';
import { Help } from './Help.tsx';
import { NoticeDialog } from './NoticeDialog.tsx';
import { Palette } from './Palette.tsx';
import { findPage } from './pages.ts';
import { ReplayBar } from './ReplayBar.tsx';
import { BulkDialog } from '../sessions/BulkDialog.tsx';
import { NewSessionDialog } from '../sessions/NewSessionDialog.tsx';
import { RenameDialog } from '../sessions/RenameDialog.tsx';
import { SaveViewDialog } from '../sessions/SaveViewDialog.tsx';
import { DemoLine } from './DemoLine.tsx';
import { SubPages } from './SubPages.tsx';
import { TopBar } from './TopBar.tsx';

/** The whole window: top bar, the page of the address, and the dialog that is open. */
export function App() {
  useSignal(ui.changed);
  const { route, dialog, notice } = ui;
  const page = findPage(route.view);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <TopBar current={page} />
      <ReplayBar />
      <main id="main" tabIndex={-1}>
        <SubPages current={page} />
        {page.render(route)}
      </main>
      <DemoLine />
      {notice !== undefined && (
        <div className="notice" role="status" data-problem={notice.isProblem}>
          {notice.text}
        </div>
      )}
      {dialog !== undefined && <OpenDialog dialog={dialog} />}
      <Announcer page={page} />
    </>
  );
}

function OpenDialog({ dialog }: { dialog: Dialog }) {
  switch (dialog.type) {
    case 'palette':
      return <Palette />;
    case 'help':
      return <Help />;
    case 'notices':
      return <NoticeDialog />;
    case 'new_session':
      return <NewSessionDialog />;
    case 'rename':
      return <RenameDialog dialog={dialog} />;
    case 'archive':
    case 'delete':
    case 'cancel':
      return <BulkDialog dialog={dialog} />;
    case 'save_view':
      return <SaveViewDialog search={dialog.search} />;
    case 'export':
      return <ExportDialog sessionId={dialog.sessionId} />;
    case 'fork':
      return <ForkDialog sessionId={dialog.sessionId} />;
    case 'find':
      return <FindDialog sessionId={dialog.sessionId} />;
    case 'apply_changes':
      return <ApplyDialog dialog={dialog} />;
    case 'discard_changes':
      return <DiscardDialog sessionId={dialog.sessionId} />;
    case 'restore_changes':
      return <RestoreDialog dialog={dialog} />;
    case 'message':
      return <MessageDialog dialog={dialog} />;
    case 'interrupt':
      return <InterruptDialog dialog={dialog} />;
  }
}
