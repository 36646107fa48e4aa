import { api, resultOf } from '../../api/client.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import styles from '../../ui/page/page.module.css';
import { useTeamRefresh } from './use-team-change.ts';

/** What a team is, and how to create one. */
export function NoTeam() {
  const refresh = useTeamRefresh();
  return (
    <section className={styles['card']} aria-labelledby="create-team">
      <h2 id="create-team">Create a team</h2>
      <p>
        In a team, one plan pays for everyone: calls of all members are charged to your billing period and
        share its limits. Members keep their own applications and tokens. You see how much each of them uses.
      </p>
      <Form
        submitLabel="Create team"
        fieldOfCode={{ already_in_team: 'name' }}
        onSubmit={(values) =>
          resultOf(api.POST('/api/console/team', { body: { name: values['name'] ?? '' } }))
        }
        onDone={refresh}
      >
        {(errors) => <TextField label="Name" name="name" autoComplete="off" error={errors['name']} />}
      </Form>
      <p className={styles['muted']}>To join someone else’s team, ask its manager for an invitation.</p>
    </section>
  );
}
