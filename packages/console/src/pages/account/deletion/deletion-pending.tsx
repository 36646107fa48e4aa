import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, nullIf, resultOf } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { ExactMoment } from '../../../ui/moment.tsx';
import { PageHeader } from '../../../ui/page/page-header.tsx';
import { ErrorMessage } from '../../../ui/page/states.tsx';
import styles from '../../../ui/page/page.module.css';

/** In place of every page while the account is being deleted: all that is left is to restore it or to sign out. */
export function DeletionPending({ dueAt }: { dueAt: string }) {
  const queryClient = useQueryClient();
  useEffect(() => {
    document.getElementById('content')?.focus();
  }, []);
  const restoring = useMutation({
    // Another tab may have restored it.
    mutationFn: () => nullIf(404, resultOf(api.DELETE('/api/console/account/deletion'))),
    onSuccess: () => queryClient.invalidateQueries(),
  });
  return (
    <>
      <PageHeader title="Your account will be deleted" />
      <section className={styles['card']} aria-label="Deletion">
        <p>
          Your personal data is erased on <ExactMoment at={dueAt} />. Your applications and tokens were
          revoked, and your webhooks were disabled.
        </p>
        <p>
          You can restore the account until then. Revoked tokens stay revoked: rotate the client secret of an
          application to use it again.
        </p>
        {restoring.isError && <ErrorMessage error={restoring.error} />}
        <div className={styles['actions']}>
          <Button
            variant="primary"
            isPending={restoring.isPending}
            onPress={() => {
              restoring.mutate();
            }}
          >
            Restore account
          </Button>
        </div>
      </section>
    </>
  );
}
