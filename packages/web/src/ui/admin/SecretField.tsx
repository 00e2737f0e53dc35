/** A field for a secret: never prefilled, not shown while it is typed, and not offered to password managers. */
export function SecretField({
  label,
  name,
  isOptional = false,
}: {
  label: string;
  name: string;
  isOptional?: boolean;
}) {
  return (
    <label>
      {label}
      <input name={name} type="password" autoComplete="new-password" spellCheck={false} required={!isOptional} />
    </label>
  );
}
