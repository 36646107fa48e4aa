import { Link } from '@tanstack/react-router';
import { Empty } from '../ui/page/states.tsx';
import styles from './entry/entry.module.css';

export function NotFoundPage() {
  return (
    <main className={styles['page']}>
      <Empty title="There is no such page">
        <p>
          The address may be misspelled. <Link to="/">Go to the overview</Link>
        </p>
      </Empty>
    </main>
  );
}
