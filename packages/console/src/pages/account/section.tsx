import { useId } from 'react';
import type { ReactNode } from 'react';
import pageStyles from '../../ui/page/page.module.css';
import styles from './account.module.css';

type SectionProps = { title: string; status?: ReactNode; children: ReactNode };

/** A section of the page, named by its heading. */
export function Section({ title, status, children }: SectionProps) {
  const id = useId();
  return (
    <section className={`${pageStyles['card'] ?? ''} ${styles['section'] ?? ''}`} aria-labelledby={id}>
      <div className={pageStyles['header']}>
        <h2 id={id}>{title}</h2>
        {status}
      </div>
      {children}
    </section>
  );
}
