/* eslint-disable @typescript-eslint/no-deprecated -- its successor can't be read by Grafana before version 12 */
import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  LegendDisplayMode,
  LegendPlacement,
  VizLegendOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

type PanelPlan = {
  title: string;
  description: string;
  /** Of Grafana: `s`, `reqps`, `bytes`, `percentunit`, `short`. */
  unit: string;
  /** Expressions by legend. */
  queries: Readonly<Record<string, string>>;
  kind?: 'stat';
};

export type BoardPlan = { uid: string; title: string; rows: Readonly<Record<string, readonly PanelPlan[]>> };

const LEGEND = new VizLegendOptionsBuilder()
  .showLegend(true)
  .displayMode(LegendDisplayMode.List)
  .placement(LegendPlacement.Bottom)
  .calcs([]);

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** Quantiles of a histogram by legend, over the labels that stay. */
export function quantiles(histogram: string, by = '', selector = ''): Record<string, string> {
  const labels = by === '' ? 'le' : `le, ${by}`;
  const legend = by === '' ? '' : ` {{${by}}}`;
  return Object.fromEntries(
    [0.5, 0.99].map((quantile) => [
      `p${String(quantile * 100)}${legend}`,
      `histogram_quantile(${String(quantile)}, sum by (${labels}) (rate(${histogram}_bucket${selector}[$__rate_interval])))`,
    ]),
  );
}

export function buildBoard({ uid, title, rows }: BoardPlan): Dashboard {
  const board = new DashboardBuilder(title)
    .uid(uid)
    .tags(['tollgate'])
    .refresh('30s')
    .time({ from: 'now-6h', to: 'now' })
    .timezone('browser')
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'));
  let id = 0;
  for (const [row, panels] of Object.entries(rows)) {
    board.withRow(new RowBuilder(row).id((id += 1)));
    for (const panel of panels) board.withPanel(buildPanel(panel).id((id += 1)));
  }
  return board.build();
}

function buildPanel({ kind, title, description, unit, queries }: PanelPlan): StatBuilder | TimeseriesBuilder {
  const panel =
    kind === 'stat'
      ? new StatBuilder().span(6).height(5)
      : new TimeseriesBuilder().span(12).height(8).fillOpacity(10).legend(LEGEND);
  panel.title(title).description(description).unit(unit).datasource(DATASOURCE);
  for (const [index, [legend, expr]] of Object.entries(queries).entries()) {
    panel.withTarget(
      new DataqueryBuilder()
        .refId(String.fromCharCode('A'.charCodeAt(0) + index))
        .datasource(DATASOURCE)
        .expr(expr)
        .legendFormat(legend),
    );
  }
  return panel;
}
