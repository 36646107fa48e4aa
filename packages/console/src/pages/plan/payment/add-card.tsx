import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, resultOf } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import page from '../../../ui/page/page.module.css';
import { ErrorMessage } from '../../../ui/page/states.tsx';

/** What needs a saved card says so, and leads to the page of Stripe where one is added, which leads back. */
export function AddCard({ children }: { children: ReactNode }) {
  const opening = useMutation({
    mutationFn: () => resultOf(api.POST('/api/console/payments/portal')),
    onSuccess: ({ url }) => {
      window.location.assign(url);
    },
  });
  return (
    <div role="alert" className={page['secret']}>
      <p>{children}</p>
      {opening.isError && <ErrorMessage error={opening.error} />}
      <Button
        isPending={opening.isPending || opening.isSuccess}
        onPress={() => {
          opening.mutate();
        }}
      >
        Add a card
      </Button>
    </div>
  );
}
