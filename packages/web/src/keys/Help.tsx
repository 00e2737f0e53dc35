import { Modal } from '../app/Modal.tsx';
import { states } from '../model/states.ts';
import { Glyph } from '../app/Glyph.tsx';
import { bindings } from './bindings.ts';

export function Help() {
  return (
    <Modal label="Keys and signs" className="help">
      <div className="help-columns">
        {bindings.map(({ where, keys }) => (
          <section key={where}>
            <h2>{where}</h2>
            <dl>
              {keys.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    {key.split(/\s+/).map((one, index) => (
                      <kbd key={index}>{one}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <section>
          <h2>Signs</h2>
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
    </Modal>
  );
}
