import { cleanLine } from '@fleetloom/protocol/text';
import { plural } from '../model/format.ts';
import { readModels } from '../stores/known-models.ts';
import { useLoaded } from '../ui/use-loaded.ts';

/** The model of an agent: known models to choose from, any other to type, and the programs of the server's machine. */
export function ModelField({ value, onChange }: { value: string; onChange: (model: string) => void }) {
  const { value: known, problem } = useLoaded('models', '', readModels);
  const names = known?.programs ?? [];
  const found = names.filter(({ problem: why }) => why === null);
  const problems = [...new Set(names.flatMap(({ problem: why }) => why ?? []))];
  return (
    <div className="model-field">
      <label htmlFor="agent-model">Model</label>
      <input
        id="agent-model"
        required
        list="known-models"
        autoComplete="off"
        spellCheck={false}
        placeholder="Choose or type a model"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id="known-models">
        {known?.models.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </datalist>
      <p className="quiet">
        {problem !== undefined
          ? 'The models of the server could not be read. Type the name of a model.'
          : known === undefined
            ? 'Reading the models of the server …'
            : `${plural(known.models.length, 'known model')}; any other name that the endpoint accepts works too.`}
      </p>
      <div className="engine-list" role="group" aria-label="Programs on the server's machine">
        {found.map(({ id, version, models: [first = `${id}/default`] }) => (
          <button key={id} type="button" aria-pressed={value.startsWith(`${id}/`)} onClick={() => onChange(first)}>
            {id} {version}
          </button>
        ))}
      </div>
      {problems.map((text) => (
        <p key={text} className="quiet">
          {names
            .filter(({ problem: why }) => why === text)
            .map(({ id }) => id)
            .join(', ')}
          : {cleanLine(text)}
        </p>
      ))}
    </div>
  );
}
