import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startTestApp, type TestApp } from '../support/test-app.js';

const ROOT = join(import.meta.dirname, '../..');
const MONITORING = join(ROOT, 'docker/monitoring');

interface Alert {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

const rules = parse(await readFile(join(MONITORING, 'consigliere.rules.yaml'), 'utf8')) as {
  groups: { name: string; rules: Alert[] }[];
};
const alerts = rules.groups.flatMap((group) => group.rules);

interface Panel {
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: { uid: string };
  targets?: { expr: string; legendFormat: string }[];
}

const dashboard = JSON.parse(await readFile(join(MONITORING, 'consigliere.dashboard.json'), 'utf8')) as {
  uid: string;
  panels: Panel[];
  templating: { list: { name: string; type: string }[] };
};
const charts = dashboard.panels.filter(({ type }) => type !== 'row');
const queries = charts.flatMap(({ title, targets }) => targets!.map((target) => ({ title, ...target })));

/** What Prometheus adds by itself: whether a scrape succeeded, and the labels of whom it scraped. */
const OF_PROMETHEUS = { metrics: ['up'], labels: ['job', 'instance'] };

/** Every word of the query language that stands where the name of a metric could. */
const WORDS = new Set(['by', 'without', 'on', 'ignoring', 'and', 'or', 'unless', 'bool', 'offset']);

interface Selector {
  metric: string;
  matchers: { label: string; operator: string; value: string }[];
}

/** The metrics that a query selects with their matchers, and the labels by which it groups. */
function partsOf(query: string): { selectors: Selector[]; grouped: string[] } {
  const grouped: string[] = [];
  const rest = query
    .replace(/\$__rate_interval/g, '5m')
    .replace(/\b(?:by|without)\s*\(([^)]*)\)/g, (_all, labels: string) => {
      grouped.push(...labels.split(',').map((label) => label.trim()));
      return ' ';
    })
    .replace(/\[[^\]]*\]/g, ' ');
  const selectors = [...rest.matchAll(/(?<![\w"])([a-z_:][\w:]*)\s*(\{[^}]*\})?(?!\w|\s*\()/gi)]
    .filter(([, name]) => !WORDS.has(name!))
    // The words within the braces of another selector are its labels and values.
    .filter(({ index }) => !isInBraces(rest, index))
    .map(([, metric, braces = '']) => ({
      metric: metric!,
      matchers: [...braces.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].map(
        ([, label, operator, value]) => ({
          label: label!,
          operator: operator!,
          value: value!,
        }),
      ),
    }));
  return { selectors, grouped };
}

function isInBraces(text: string, index: number): boolean {
  const before = text.slice(0, index);
  return before.lastIndexOf('{') > before.lastIndexOf('}');
}

/** Label names and values of each metric, as a real service answers them. */
type Series = Map<string, Map<string, Set<string>>>;

function seriesOf(text: string): Series {
  const series: Series = new Map();
  for (const line of text.split('\n')) {
    const [, name, labels = ''] = /^([a-z_:][\w:]*)(\{.*\})? \S+$/i.exec(line) ?? [];
    if (name === undefined) continue;
    const known = series.get(name) ?? new Map<string, Set<string>>();
    series.set(name, known);
    for (const [, label, value] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      known.set(label!, (known.get(label!) ?? new Set()).add(value!));
    }
  }
  return series;
}

let test: TestApp;
let series: Series;
beforeAll(async () => {
  test = await startTestApp();
  // So that the routes which the alerts leave out are among those that were asked for.
  await test.owner.get('/approvals/apr_00000000000000000000000000');
  const stream = new AbortController();
  const answer = await fetch(`${test.url}/api/pro/feed/stream`, {
    headers: { 'x-service-token': test.owner.token! },
    signal: stream.signal,
  });
  expect(answer.status).toBe(200);
  stream.abort();
  series = seriesOf(await (await fetch(`${test.url}/metrics`)).text());
});
afterAll(() => test.close());

/** Fails with a sentence if the service has nothing that this query could find. */
function expectToFind(query: string): void {
  const { selectors, grouped } = partsOf(query);
  expect(selectors, query).not.toEqual([]);
  const labels = new Set([...OF_PROMETHEUS.labels]);
  for (const { metric, matchers } of selectors) {
    const known = series.get(metric);
    if (!OF_PROMETHEUS.metrics.includes(metric)) expect(known, `${metric} in ${query}`).toBeDefined();
    for (const label of known?.keys() ?? []) labels.add(label);
    for (const { label, operator, value } of matchers) {
      if (OF_PROMETHEUS.labels.includes(label)) continue;
      const values = known?.get(label);
      expect(values, `${label} of ${metric}`).toBeDefined();
      // Which status an answer has is no list that stands fixed; everything else is shown from the start on.
      if (label === 'status') continue;
      const wanted = operator.includes('~') ? value.split('|') : [value];
      for (const one of wanted) {
        const found = metric.startsWith('http_') ? isRoute(one) : values!.has(one);
        expect(found, `${label}="${one}" of ${metric}`).toBe(true);
      }
    }
  }
  for (const label of grouped) expect([...labels], `${label} in ${query}`).toContain(label);
}

const routes = await readFile(join(ROOT, 'docs/reference/routes.txt'), 'utf8');

/** Names of parameters differ between the code and the reference. */
function isRoute(path: string): boolean {
  const pattern = path.replace(/:\w+/g, ':\\w+');
  return new RegExp(`\\s${pattern}\\s`).test(routes);
}

describe('how a query is read here', () => {
  it('finds metrics, matchers and groups, and no function', () => {
    const query = `histogram_quantile(0.99, sum by (le, route) (rate(a_bucket{x="1", y!~"b|c"}[5m]))) / d > 1`;
    expect(partsOf(query)).toEqual({
      selectors: [
        {
          metric: 'a_bucket',
          matchers: [
            { label: 'x', operator: '=', value: '1' },
            { label: 'y', operator: '!~', value: 'b|c' },
          ],
        },
        { metric: 'd', matchers: [] },
      ],
      grouped: ['le', 'route'],
    });
  });

  it('refuses a metric, a label, a value and a group that the service does not have', () => {
    expectToFind('sum by (outcome) (rate(consigliere_mail_total{outcome="refused"}[5m]))');
    for (const wrong of [
      'consigliere_mails_total',
      'consigliere_mail_total{result="refused"}',
      'consigliere_mail_total{outcome=~"refused|lost"}',
      'sum by (kind) (consigliere_mail_total)',
    ]) {
      expect(() => expectToFind(wrong), wrong).toThrow(/consigliere_mail/);
    }
  });
});

describe('the alerts', () => {
  it('are each named once', () => {
    const names = alerts.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(15);
  });

  it.each(alerts.map((alert) => [alert.alert, alert] as const))(
    '%s: asks for what the service answers, in a sentence, with what to do about it',
    async (name, { expr, for: lasting, labels, annotations }) => {
      expect(name).toMatch(/^Consigliere[A-Z][A-Za-z]+$/);
      expectToFind(expr);
      if (lasting !== undefined) expect(lasting).toMatch(/^\d+[smh]$/);
      expect(['page', 'ticket', 'info']).toContain(labels.severity);
      expect(annotations.summary).toMatch(/^.{20,}\.$/);
      const [file, anchor] = annotations.runbook.split('#');
      expect(existsSync(join(ROOT, file!)), annotations.runbook).toBe(true);
      expect(anchorsOf(await readFile(join(ROOT, file!), 'utf8')), annotations.runbook).toContain(anchor);
    },
  );

  it('leave no heading of the guide without an alert', async () => {
    const guide = await readFile(join(ROOT, 'docs/guides/alerts.md'), 'utf8');
    const linked = new Set(alerts.map(({ annotations }) => annotations.runbook.split('#')[1]));
    expect(anchorsOf(guide).filter((anchor) => !linked.has(anchor))).toEqual([
      'metrics-and-alerts',
      'mail-has-reached-some-of-its-recipients',
    ]);
  });

  it('are what prometheus.yaml evaluates, for the job that it scrapes', async () => {
    const file = parse(await readFile(join(MONITORING, 'prometheus.yaml'), 'utf8')) as {
      rule_files: string[];
      scrape_configs: { job_name: string }[];
    };
    expect(file.rule_files).toEqual(['consigliere.rules.yaml']);
    expect(file.scrape_configs.map(({ job_name: job }) => job)).toEqual(['consigliere']);
  });
});

describe('the dashboard', () => {
  it.each(queries.map(({ title, expr }) => [title, expr]))(
    '%s: asks for what the service answers: %s',
    (_title, expr) => expectToFind(expr),
  );

  it('names labels of its queries only in the legends', () => {
    for (const { expr, legendFormat } of queries) {
      const { grouped } = partsOf(expr);
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
      for (const label of shown) expect([...grouped, 'instance'], expr).toContain(label);
    }
  });

  it('takes its data source from a variable, and lays its charts out without an overlap', () => {
    expect(dashboard.templating.list).toMatchObject([{ name: 'datasource', type: 'datasource' }]);
    for (const { title, datasource } of charts) expect(datasource?.uid, title).toBe('${datasource}');
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
  });
});

/** The anchors of a page's headings, as a forge makes them. */
function anchorsOf(markdown: string): string[] {
  const prose = markdown.replace(/^```[^]*?^```$/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replace(/ /g, '-'),
  );
}
