import type { AuditFilter } from './filter-entries.ts';

interface AuditFiltersProps {
  readonly filter: AuditFilter;
  readonly onChange: (filter: AuditFilter) => void;
}

/** The filter fields. The address contains them, so that a link shows the same entries. */
export function AuditFilters({ filter, onChange }: AuditFiltersProps) {
  const field = (name: keyof AuditFilter, label: string, type: 'search' | 'date', placeholder = '') => (
    <label>
      {label}
      <input
        type={type}
        value={filter[name]}
        placeholder={placeholder}
        onChange={({ target }) => onChange({ ...filter, [name]: target.value })}
      />
    </label>
  );
  return (
    <form className="audit-filters" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      {field('actor', 'Who', 'search', 'key, person, address')}
      {field('action', 'Action or id', 'search', 'vault, key.revoked')}
      {field('from', 'From', 'date')}
      {field('to', 'To', 'date')}
      <button type="button" onClick={() => onChange({ actor: '', action: '', from: '', to: '' })}>
        Clear
      </button>
    </form>
  );
}
