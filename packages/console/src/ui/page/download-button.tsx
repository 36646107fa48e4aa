import { useMutation } from '@tanstack/react-query';
import { Button } from '../button.tsx';
import styles from './download-button.module.css';
import { ErrorMessage } from './states.tsx';
import { saveFile } from '../save-file.ts';

type DownloadButtonProps = {
  load: () => Promise<{ name: string; content: Blob }>;
  label?: string;
};

/** Saves what `load` fetches. It is fetched first, so that a session that has ended asks for a sign-in here. */
export function DownloadButton({ load, label = 'Download CSV' }: DownloadButtonProps) {
  const download = useMutation({
    mutationFn: load,
    onSuccess: ({ name, content }) => {
      saveFile(name, content);
    },
  });
  return (
    <div className={styles['download']}>
      <Button
        isReading
        isPending={download.isPending}
        onPress={() => {
          download.mutate();
        }}
      >
        {label}
      </Button>
      {download.isError && <ErrorMessage error={download.error} />}
    </div>
  );
}
