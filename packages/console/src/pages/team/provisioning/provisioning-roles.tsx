import { useState } from 'react';
import { api, resultOf } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { CheckboxField } from '../../../ui/form/checkbox-field.tsx';
import { Form } from '../../../ui/form/form.tsx';
import { SelectField } from '../../../ui/form/select-field.tsx';
import { TextField } from '../../../ui/form/text-field.tsx';
import { MEMBER_ROLES, memberRoleOf } from '../member-roles.ts';
import type { Provisioning } from '../queries.ts';
import { useTeamRefresh } from '../use-team-change.ts';

type Settings = NonNullable<Provisioning['settings']>;
type GroupRole = Settings['group_roles'][number];

const NONE = '';

const ROLES = MEMBER_ROLES.map(({ value, label }) => ({ value, label }));

/** Which roles groups give. */
export function ProvisioningRoles({
  settings,
  groups,
}: {
  settings: Settings;
  groups: Provisioning['groups'];
}) {
  const [isOpen, setOpen] = useState(false);
  const refresh = useTeamRefresh();
  const close = () => {
    setOpen(false);
  };
  const rows = rowsOf(settings, groups);
  return (
    <>
      <Button
        onPress={() => {
          setOpen(true);
        }}
      >
        Roles of groups
      </Button>
      <Dialog title="Roles of groups" isOpen={isOpen} onClose={close}>
        <Form
          submitLabel="Save roles"
          onCancel={close}
          onSubmit={(values) =>
            resultOf(api.PUT('/api/console/team/provisioning', { body: bodyOf(values, rows) }))
          }
          onDone={() => {
            close();
            refresh();
          }}
        >
          {(errors) => (
            <>
              <SelectField
                label="Without a group below"
                name="default_role"
                options={ROLES}
                defaultValue={settings.default_role}
              />
              {rows.map(({ group_name, member_role }, index) => (
                <SelectField
                  key={group_name}
                  label={group_name}
                  name={`group_${String(index)}`}
                  options={[{ value: NONE, label: 'No role of its own' }, ...ROLES]}
                  defaultValue={member_role ?? NONE}
                />
              ))}
              <TextField
                label="Another group, as the directory names it"
                name="group_roles"
                autoComplete="off"
                isRequired={false}
                error={errors['group_roles']}
              />
              <SelectField
                label="Its role"
                name="other_role"
                options={ROLES}
                defaultValue="billing"
                description="In several groups, a member has the strongest role: Billing, Developer, Viewer."
              />
              <CheckboxField
                label="Keep roles that were set by hand"
                name="keeps_manual_roles"
                defaultChecked={settings.keeps_manual_roles}
                description="Otherwise the groups’ roles replace them."
              />
            </>
          )}
        </Form>
      </Dialog>
    </>
  );
}

type Row = { group_name: string; member_role: GroupRole['member_role'] | undefined };

/** Groups with a role first, then those that the directory has. */
function rowsOf({ group_roles }: Settings, groups: Provisioning['groups']): Row[] {
  const known = new Set(group_roles.map(({ group_name }) => group_name.toLowerCase()));
  const others = groups.filter(({ display_name }) => !known.has(display_name.toLowerCase()));
  return [
    ...group_roles,
    ...others.map(({ display_name }) => ({ group_name: display_name, member_role: undefined })),
  ];
}

function bodyOf(values: Readonly<Record<string, string>>, rows: readonly Row[]): Settings {
  const given = rows.flatMap(({ group_name }, index): GroupRole[] => {
    const role = values[`group_${String(index)}`] ?? NONE;
    return role === NONE ? [] : [{ group_name, member_role: memberRoleOf(role) }];
  });
  const other = values['group_roles']?.trim() ?? '';
  return {
    default_role: memberRoleOf(values['default_role']),
    keeps_manual_roles: 'keeps_manual_roles' in values,
    group_roles:
      other === ''
        ? given
        : [...given, { group_name: other, member_role: memberRoleOf(values['other_role']) }],
  };
}
