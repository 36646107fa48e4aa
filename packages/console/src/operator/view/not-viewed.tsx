import { PageHeader } from '../../ui/page/page-header.tsx';

/** In place of the explorer, which makes calls. */
export function NotViewed() {
  return <PageHeader title="The explorer is not part of a view" />;
}
