/** The glyph of a state. Many systems have no font with an hourglass, so it is an SVG. */
export function Glyph({ glyph }: { glyph: string }) {
  if (glyph !== '⧗') return <i aria-hidden="true">{glyph}</i>;
  return (
    <i aria-hidden="true">
      <svg width="9" height="11" viewBox="0 0 9 11" fill="currentColor">
        <path d="M0 0h9v1L5.3 5.5 9 10v1H0v-1l3.7-4.5L0 1z" />
      </svg>
    </i>
  );
}
