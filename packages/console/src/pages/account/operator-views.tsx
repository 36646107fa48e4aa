import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { operatorViewsQuery } from './queries.ts';
import { Section } from './section.tsx';

/** Whether support may see what this console shows. */
export function OperatorViews() {
  const queryClient = useQueryClient();
  const { data, isPending, error, refetch } = useQuery(operatorViewsQuery);
  const change = useMutation({
    mutationFn: (is_allowed: boolean) =>
      resultOf(api.PUT('/api/console/operator-views', { body: { is_allowed } })),
    onSuccess: (setting) => {
      queryClient.setQueryData(operatorViewsQuery.queryKey, setting);
    },
  });
  const isAllowed = data !== undefined && data.is_allowed && data.is_allowed_by_manager;
  return (
    <Section
      title="Views by support"
      status={
        data !== undefined && (
          <Badge tone={isAllowed ? 'neutral' : 'good'}>{isAllowed ? 'Allowed' : 'Forbidden'}</Badge>
        )
      }
    >
      <p>
        To help you, support can see what this console shows you: read only, for 15 minutes, and without your
        secrets. Each view is in your <Link to="/account/activity">activity</Link>. If you forbid it, only an
        administrator can view your account, and you get the reason by mail.
      </p>
      {isPending && <Skeleton rows={1} />}
      {data === undefined && error !== null && (
        <ErrorMessage error={error} what="this setting" onRetry={() => void refetch()} />
      )}
      {data?.is_allowed_by_manager === false && <p>The manager of your team forbids it.</p>}
      {change.isError && <ErrorMessage error={change.error} isChange />}
      {data !== undefined && (
        <div>
          <Button
            isPending={change.isPending}
            onPress={() => {
              change.mutate(!data.is_allowed);
            }}
          >
            {data.is_allowed ? 'Forbid views' : 'Allow views'}
          </Button>
        </div>
      )}
    </Section>
  );
}
