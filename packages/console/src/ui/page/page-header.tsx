import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { brand } from '../../api/brand.ts';
import styles from './page.module.css';

/** A page's heading, which is also its title in the browser, with its main action. */
export function PageHeader({ title, children }: { title: string; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · ${brand.name}`;
  }, [title]);
  return (
    <div className={styles['header']}>
      <h1>{title}</h1>
      {children}
    </div>
  );
}
