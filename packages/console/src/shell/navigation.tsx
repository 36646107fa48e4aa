import { Link, useLocation } from '@tanstack/react-router';
import { BOOK, brand } from '../api/brand.ts';
import { isViewing } from '../api/viewing.ts';
import { Icon } from './icons.tsx';
import { NAVIGATION } from './pages.ts';
import type { Page } from './pages.ts';
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
          {shown(pages).map(({ to, label, icon }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              className={styles['link'] ?? ''}
            >
              <Icon name={icon} />
              {label}
            </Link>
          ))}
        </div>
      ))}
    </nav>
  );
}

type Pages = (typeof NAVIGATION)[number]['pages'];

/** A view makes no calls. */
function shown(pages: Pages): readonly Pages[number][] {
  return isViewing ? pages.filter(({ to }) => to !== '/explorer') : pages;
}

/** Where to read and to ask: the operator's addresses, beside the reference that account serves. */
export const HELP = [
  { label: 'Docs', href: brand.docsUrl },
  { label: 'API reference', href: '/api/docs' },
  { label: 'Support', href: brand.supportUrl },
].flatMap(({ label, href }) => (href === null ? [] : [{ label, href }]));

export function Help() {
  const { pathname } = useLocation();
  const { docs = '' } =
    NAVIGATION.flatMap(({ pages }): readonly Page[] => pages).find(
      ({ to }) => pathname === to || (to !== '/' && pathname.startsWith(`${to}/`)),
    ) ?? {};
  return (
    <nav aria-label="Help" className={styles['help']}>
      {HELP.map(({ label, href }) => (
        <a
          key={label}
          href={href === BOOK ? href + docs : href}
          target="_blank"
          rel="noreferrer"
          className={styles['helpLink']}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}
