import { useMutation } from '@tanstack/react-query';
import { fetchUsageCsv } from '../../api/usage.ts';
import type { UsageRequest } from '../../api/usage.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage } from '../../ui/page/states.tsx';
import styles from './usage.module.css';

/** Saves the view as a CSV file. It is fetched first, so that a session that has ended asks for a sign-in here. */
export function CsvButton({ request }: { request: UsageRequest }) {
  const download = useMutation({ mutationFn: () => fetchUsageCsv(request), onSuccess: save });
  return (
    <div className={styles['printless']}>
      <Button
        isPending={download.isPending}
        onPress={() => {
          download.mutate();
        }}
      >
        Download CSV
      </Button>
      {download.isError && <ErrorMessage error={download.error} />}
    </div>
  );
}

function save({ name, content }: { name: string; content: Blob }): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has its own reference by then.
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 0);
}
