import { useMutation } from '@tanstack/react-query';
import { InterruptedDownload, fetchExport } from '../../api/downloads.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage } from '../../ui/page/states.tsx';
import styles from '../../ui/page/page.module.css';
import { saveFile } from '../../ui/save-file.ts';
import { ConfirmationProvider, useConfirmed } from './confirmation.tsx';
import { Section } from './section.tsx';

/** A zip of everything that the account has. */
export function ExportData() {
  return (
    <Section title="Export data">
      <p>
        Download a zip with your applications, team, usage, billing periods, webhooks and activity, as JSON
        and CSV. Passwords, secrets and tokens are not included.
      </p>
      <ConfirmationProvider>
        <ExportButton />
      </ConfirmationProvider>
    </Section>
  );
}

function ExportButton() {
  const confirmed = useConfirmed();
  const download = useMutation({
    mutationFn: () => confirmed(fetchExport),
    onSuccess: ({ name, content }) => {
      saveFile(name, content);
    },
  });
  return (
    <>
      <div className={styles['actions']}>
        <Button
          isPending={download.isPending}
          onPress={() => {
            download.mutate();
          }}
        >
          {download.isPending ? 'Preparing export…' : 'Export data'}
        </Button>
      </div>
      {download.isError && (
        <>
          <ErrorMessage error={download.error} />
          {download.error instanceof InterruptedDownload && (
            <p>
              Request ID: <code>{download.error.requestId}</code>
            </p>
          )}
        </>
      )}
      <p role="status">
        {download.isPending && 'This can take a few minutes for an account with a lot of usage.'}
        {download.isSuccess && `${download.data.name} was downloaded.`}
      </p>
    </>
  );
}
