import { useQueryClient } from '@tanstack/react-query';
import { api, nullIf, resultOf } from '../../api/client.ts';
import { ConfirmByName } from '../../ui/form/confirm-by-name.tsx';
import { connectionsQuery } from './queries.ts';
import type { Connection } from './queries.ts';

/** It can be connected again, so its name isn't asked. */
export function Disconnect({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const queryClient = useQueryClient();
  const { connection_id, name } = connection;
  return (
    <ConfirmByName
      title={
        <>
          Disconnect <bdi>{name}</bdi>?
        </>
      }
      name={name}
      of="application"
      action="Disconnect"
      asksName={false}
      isOpen
      onClose={onClose}
      onConfirm={() => {
        const params = { path: { connection_id } };
        return nullIf(404, resultOf(api.DELETE('/api/console/connections/{connection_id}', { params })));
      }}
      onDone={() => void queryClient.invalidateQueries({ queryKey: connectionsQuery.queryKey })}
    >
      <p>
        Its tokens stop working within a second, and its open subscriptions end. To use it again, connect it
        again from the application.
      </p>
    </ConfirmByName>
  );
}
