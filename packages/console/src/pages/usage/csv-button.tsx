import { useMutation } from '@tanstack/react-query';
import { fetchUsageCsv } from '../../api/usage.ts';
import type { UsageRequest } from '../../api/usage.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage } from '../../ui/page/states.tsx';
import { saveFile } from '../../ui/save-file.ts';
import styles from './usage.module.css';

/** Saves the view as a CSV file. It is fetched first, so that a session that has ended asks for a sign-in here. */
export function CsvButton({ request }: { request: UsageRequest }) {
  const download = useMutation({
    mutationFn: () => fetchUsageCsv(request),
    onSuccess: ({ name, content }) => {
      saveFile(name, content);
    },
  });
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
