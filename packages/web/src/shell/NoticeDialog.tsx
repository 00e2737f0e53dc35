import { ui } from '../stores/stores.ts';
import { Modal } from '../ui/Modal.tsx';
import { NoticeFields } from '../ui/NoticeFields.tsx';
import { PushSettings } from '../ui/push/PushSettings.tsx';

/** Settings for desktop notifications and for how long decisions can be undone. */
export function NoticeDialog() {
  return (
    <Modal label="Notifications and undo" className="message-dialog">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          ui.closeDialog();
        }}
      >
        <h2>Notifications and undo</h2>
        <NoticeFields isFocused />
        <PushSettings />
        <footer>
          <button type="submit" className="primary">
            Done
          </button>
        </footer>
      </form>
    </Modal>
  );
}
