import { Modal } from '../ui/Modal.tsx';
import { states } from '@fleetloom/protocol/fleet';
import { Glyph } from '../ui/Glyph.tsx';
import { ui } from '../stores/stores.ts';
import { shellHelp } from './keys.ts';
import { pages } from './pages.ts';

/** Every key with its action, and the glyph of every state. */
export function Help() {
  const sections = [{ name: 'Everywhere', help: shellHelp }, ...pages];
  return (
    <Modal label="Keyboard shortcuts and states" className="help">
      <div className="help-columns">
        {sections.map(({ name, help }) => (
          <section key={name}>
            <h2>{name}</h2>
            <dl>
              {help.map(([key, action]) => (
                <div key={key}>
                  <dt>
                    {key.split(/\s+/).map((one, index) => (
                      <kbd key={index}>{one}</kbd>
                    ))}
                  </dt>
                  <dd>{action}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <section>
          <h2>States</h2>
          <dl>
            {Object.entries(states).map(([id, { glyph, word }]) => (
              <div key={id}>
                <dt data-ink={id}>
                  <Glyph glyph={glyph} />
                </dt>
                <dd>{word}</dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
      <footer className="help-footer">
        <button type="button" onClick={() => ui.closeDialog()}>
          Close <kbd>Esc</kbd>
        </button>
      </footer>
    </Modal>
  );
}
