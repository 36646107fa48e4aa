import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { brand } from '../../api/brand.ts';
import styles from './entry.module.css';

/** The frame of the pages before the sign-in. */
export function EntryPage({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · ${brand.name}`;
  }, [title]);
  return (
    <main className={styles['page']}>
      <div className={styles['card']}>
        <img src={brand.logo} alt="" className={styles['logo']} />
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
