import { useMutation } from '@tanstack/react-query';
import { Button } from '../button.tsx';
import styles from './csv-button.module.css';
import { ErrorMessage } from './states.tsx';
import { saveFile } from '../save-file.ts';

/** Saves what `load` fetches. It is fetched first, so that a session that has ended asks for a sign-in here. */
export function CsvButton({ load }: { load: () => Promise<{ name: string; content: Blob }> }) {
  const download = useMutation({
    mutationFn: load,
    onSuccess: ({ name, content }) => {
      saveFile(name, content);
    },
  });
  return (
    <div className={styles['download']}>
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
