import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Badge } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import type { OperatorSession } from '../api/client.ts';
import { REASON } from '../api/reason.ts';
import { OperatorLink, navigate } from '../location.tsx';
import { ActOn } from './act-on.tsx';
import { limitText } from './limits.ts';
import { PlanFields, wantedPlan } from './plan-fields.tsx';
import { allPlansQuery, createPlan, createProduct, productsQuery, renameProduct } from './plan-queries.ts';
import type { Plan } from './plan-queries.ts';
import { ReasonField } from './reason-field.tsx';
import { Listed } from './section.tsx';

/** `/operator/plans`: plans and products. */
export function PlansPage({ role }: Pick<OperatorSession, 'role'>) {
  const isAdmin = role === 'admin';
  const products = useQuery(productsQuery);
  const nameOf = (id: number | null) =>
    products.data?.find(({ product_id }) => product_id === id)?.name ?? (id === null ? '–' : String(id));
  return (
    <>
      <PageHeader title="Plans" />
      <Listed
        title="All plans"
        query={allPlansQuery}
        none="There are no plans yet."
        keyOf={({ plan_id }) => plan_id}
        columns={[
          {
            label: 'Plan',
            onCard: 'title',
            cell: ({ plan_id, name }) => (
              <OperatorLink to={`/plans/${String(plan_id)}`}>
                <bdi>{name}</bdi>
              </OperatorLink>
            ),
          },
          { label: 'Key', cell: ({ key }) => <code>{key}</code> },
          { label: 'Product', cell: ({ product_id }) => <bdi>{nameOf(product_id)}</bdi> },
          {
            label: 'Points',
            align: 'end',
            cell: ({ description }) => limitText(description, 'points_limit'),
          },
          {
            label: 'Calls per minute',
            align: 'end',
            cell: ({ description }) => limitText(description, 'rate_limit'),
          },
          { label: 'State', onCard: 'status', cell: (plan) => <PlanState plan={plan} /> },
        ]}
      >
        <p className={page['muted']}>
          Plans from a file are set again by the next <code>tollgate apply</code>: change the file instead.
        </p>
      </Listed>
      <Listed
        title="Products"
        query={productsQuery}
        none="There are no products. A plan needs none."
        keyOf={({ product_id }) => product_id}
        columns={[
          { label: 'Name', onCard: 'title', cell: ({ name }) => <bdi>{name}</bdi> },
          { label: 'Key', cell: ({ key }) => <code>{key}</code> },
        ]}
        actions={
          isAdmin ? ({ product_id, name }) => <Rename product_id={product_id} name={name} /> : undefined
        }
      />
      {isAdmin && (
        <>
          <NewPlan products={products.data ?? []} />
          <NewProduct />
        </>
      )}
    </>
  );
}

export function PlanState({ plan: { archived_at, public_position, managed } }: { plan: Plan }) {
  return (
    <>
      {archived_at !== null ? (
        <Badge tone="neutral">Archived</Badge>
      ) : public_position === null ? (
        <Badge tone="neutral">Not in the catalogue</Badge>
      ) : (
        <Badge tone="good">In the catalogue</Badge>
      )}
      {managed && (
        <>
          {' '}
          <Badge tone="warning">From a file</Badge>
        </>
      )}
    </>
  );
}

function Rename({ product_id, name }: { product_id: number; name: string }) {
  return (
    <ActOn
      queryKey={['plans']}
      action="Rename"
      row={`product ${name}`}
      title="Rename this product?"
      fields={(errors) => (
        <TextField label="Name" name="name" autoComplete="off" defaultValue={name} error={errors['name']} />
      )}
      act={(reason, values) => renameProduct(product_id, values['name'] ?? '', reason)}
    >
      All billing periods show the new name.
    </ActOn>
  );
}

function NewPlan({ products }: { products: readonly { product_id: number; name: string }[] }) {
  const queryClient = useQueryClient();
  return (
    <section className={page['card']} aria-labelledby="new-plan">
      <h2 id="new-plan">New plan</h2>
      <Form
        submitLabel="Create plan"
        fieldOfCode={{ name_taken: 'name' }}
        onSubmit={(values) => createPlan(wantedPlan(values), values[REASON] ?? '')}
        onDone={({ plan_id }) => {
          void queryClient.invalidateQueries({ queryKey: ['plans'] });
          navigate(`/plans/${String(plan_id)}`);
        }}
      >
        {(errors) => (
          <>
            <PlanFields products={products} errors={errors} />
            <ReasonField errors={errors} isOfCustomer={false} />
          </>
        )}
      </Form>
    </section>
  );
}

function NewProduct() {
  const queryClient = useQueryClient();
  return (
    <section className={page['card']} aria-labelledby="new-product">
      <h2 id="new-product">New product</h2>
      <Form
        submitLabel="Create product"
        fieldOfCode={{ name_taken: 'name' }}
        onSubmit={({ name = '', [REASON]: reason = '' }) => createProduct(name, reason)}
        onDone={() => void queryClient.invalidateQueries({ queryKey: ['plans'] })}
      >
        {(errors) => (
          <>
            <TextField label="Name" name="name" autoComplete="off" error={errors['name']} />
            <ReasonField errors={errors} isOfCustomer={false} />
          </>
        )}
      </Form>
    </section>
  );
}
