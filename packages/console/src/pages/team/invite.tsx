import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { Form } from '../../ui/form/form.tsx';
import { SelectField } from '../../ui/form/select-field.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import styles from '../../ui/page/page.module.css';
import { useHashAction } from '../../ui/use-hash-action.ts';
import { MEMBER_ROLES, memberRoleOf } from './member-roles.ts';
import { invite } from './queries.ts';
import type { Team } from './queries.ts';
import { useTeamRefresh } from './use-team-change.ts';

/** Inviting by email. With all slots used, where more come from instead of the form; what was just sent is still said. */
export function Invite({ slots: { used, limit } }: Pick<Team, 'slots'>) {
  const section = useRef<HTMLElement>(null);
  useHashAction('invite', () => {
    section.current?.querySelector('input')?.focus();
  });
  const isFull = limit !== null && used >= limit;
  const refresh = useTeamRefresh();
  const [sent, setSent] = useState({ count: 0, email: '' });
  return (
    <section ref={section} className={styles['card']} aria-labelledby="invite">
      <h2 id="invite">Invite</h2>
      {isFull ? (
        <p>
          All slots of your plan are used. To invite someone,{' '}
          <Link to="/plan">add slots or change your plan</Link>, remove a member, or withdraw an invitation.
        </p>
      ) : (
        <Form
          // An empty form for the next one.
          key={sent.count}
          submitLabel="Invite"
          fieldOfCode={{
            already_member: 'email',
            invitation_pending: 'email',
            team_slots_limit_exceeded: 'email',
          }}
          onSubmit={(values) => {
            setSent({ ...sent, email: '' });
            return invite(values['email'] ?? '', memberRoleOf(values['member_role']));
          }}
          onDone={({ email }) => {
            setSent({ count: sent.count + 1, email });
            refresh();
          }}
        >
          {(errors) => (
            <>
              <TextField
                label="Email"
                name="email"
                type="email"
                autoComplete="off"
                description="They get an email with a link. It works for 7 days and holds a slot."
                error={errors['email']}
                autoFocus={sent.count > 0}
              />
              <SelectField label="Role" name="member_role" options={MEMBER_ROLES} defaultValue="developer" />
            </>
          )}
        </Form>
      )}
      <p role="status">{sent.email !== '' && `Invitation sent to ${sent.email}.`}</p>
    </section>
  );
}
