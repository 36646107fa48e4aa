import { Link } from '@tanstack/react-router';
import { EntryPage } from './entry/entry-page.tsx';

/** Any other address below /user. */
export function NotFoundPage() {
  return (
    <EntryPage title="Page not found">
      <p>Check the address, or go back to a page that exists.</p>
      <p>
        <Link to="/">Go to the overview</Link>
      </p>
    </EntryPage>
  );
}
