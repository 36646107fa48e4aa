import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmByName } from '../../ui/form/confirm-by-name.tsx';
import { formatNumber } from '../../ui/format.ts';
import styles from '../../ui/page/page.module.css';
import type { Team } from './queries.ts';
import { useTeamRefresh } from './use-team-change.ts';

/** The way out: members leave, the manager dissolves the team. */
export function EndTeam({ team }: { team: Team }) {
  const [isOpen, setOpen] = useState(false);
  const refresh = useTeamRefresh();
  const isManager = team.role === 'manager';
  const action = isManager ? 'Dissolve team' : 'Leave team';
  return (
    <section className={styles['card']} aria-labelledby="end-team">
      <div className={styles['header']}>
        <h2 id="end-team">{action}</h2>
        <Button
          variant="danger"
          onPress={() => {
            setOpen(true);
          }}
        >
          {action}
        </Button>
      </div>
      <p>
        {isManager
          ? 'Ends the team for everyone. To leave it to someone else, make them manager first.'
          : CONSEQUENCE}
      </p>
      <ConfirmByName
        title={
          <>
            {isManager ? 'Dissolve' : 'Leave'} <bdi>{team.name}</bdi>?
          </>
        }
        name={team.name}
        of="team"
        action={action}
        isOpen={isOpen}
        onClose={() => {
          setOpen(false);
        }}
        onConfirm={() =>
          isManager
            ? resultOf(api.DELETE('/api/console/team'))
            : resultOf(api.POST('/api/console/team/leave'))
        }
        onDone={refresh}
      >
        {isManager ? (
          <>
            <p>{othersInWords(team.members.length - 1)}</p>
            <p>Pending invitations stop working. Your own plan and applications stay as they are.</p>
          </>
        ) : (
          <p>{CONSEQUENCE} To come back, you need a new invitation.</p>
        )}
      </ConfirmByName>
    </section>
  );
}

const CONSEQUENCE =
  'From the next call on, your calls are charged to your own plan. Without one, they are refused.';

function othersInWords(others: number): string {
  if (others === 0) return 'The team has no other members.';
  const who = others === 1 ? '1 member loses' : `${formatNumber(others)} members lose`;
  return `${who} your plan: from the next call on, their calls are charged to their own plans. Without one, they are refused.`;
}
