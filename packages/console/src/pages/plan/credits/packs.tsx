import { useMutation } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, resultOf } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorMessage } from '../../../ui/page/states.tsx';
import styles from '../plan.module.css';
import { formatAmount, packTerms } from './price.ts';
import type { Pack } from './queries.ts';

/** Packs on sale. Buying leads to the payment provider's page, which leads back. */
export function Packs({ packs }: { packs: readonly Pack[] }) {
  const buying = useMutation({
    mutationFn: (pack_id: number) =>
      resultOf(api.POST('/api/console/purchases', { body: { pack_id, quantity: 1 } })),
    onSuccess: ({ checkout_url }) => {
      if (checkout_url !== null) window.location.assign(checkout_url);
    },
  });
  const { reset } = buying;
  useEffect(() => {
    // Going back may show this page as it was when it was left.
    const resetIfKept = ({ persisted }: PageTransitionEvent) => {
      if (persisted) reset();
    };
    window.addEventListener('pageshow', resetIfKept);
    return () => {
      window.removeEventListener('pageshow', resetIfKept);
    };
  }, [reset]);
  // Until the other page is there.
  const isLeaving = buying.isPending || buying.isSuccess;
  return (
    <>
      <h3>Buy points</h3>
      {buying.isError && <ErrorMessage error={buying.error} isChange />}
      <ul className={styles['plans']}>
        {packs.map((pack) => (
          <li key={pack.pack_id} className={styles['plan']}>
            <h4>
              <bdi>{pack.name}</bdi>
            </h4>
            <p className={styles['price']}>{formatAmount(pack.unit_amount, pack)}</p>
            <p className={styles['limit']}>{packTerms(pack)}</p>
            <Button
              isPending={isLeaving && buying.variables === pack.pack_id}
              isDisabled={isLeaving && buying.variables !== pack.pack_id}
              onPress={() => {
                buying.mutate(pack.pack_id);
              }}
            >
              {`Buy ${pack.name}`}
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}
