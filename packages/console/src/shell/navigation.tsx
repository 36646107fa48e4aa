import { Link } from '@tanstack/react-router';
import { NAVIGATION } from './pages.ts';
import styles from './shell.module.css';

/** The links to all pages, in groups; the current one is marked. */
export function Navigation() {
  return (
    <nav aria-label="Pages" className={styles['nav']}>
      {NAVIGATION.map(({ title, pages }) => (
        <div
          key={title ?? pages[0].to}
          role={title === null ? undefined : 'group'}
          aria-label={title ?? undefined}
        >
          {title !== null && (
            <p className={styles['group']} aria-hidden="true">
              {title}
            </p>
          )}
          {pages.map(({ to, label }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              className={styles['link'] ?? ''}
            >
              {label}
            </Link>
          ))}
        </div>
      ))}
    </nav>
  );
}
