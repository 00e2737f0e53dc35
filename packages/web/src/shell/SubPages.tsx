import type { Page } from '../ui/page.ts';
import { listGroup } from './pages.ts';

/** Links between a page of the top bar and the pages below it. */
export function SubPages({ current }: { current: Page }) {
  const group = listGroup(current);
  if (group.length === 0) return null;
  return (
    <nav className="sub-pages" aria-label={group[0]!.name}>
      {group.map(({ view, name, shortcut, needs }) => (
        <a
          key={view}
          href={`#/${view}`}
          data-needs={needs}
          aria-current={view === current.view ? 'page' : undefined}
          title={`${name} (g ${shortcut})`}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}
